"""The audit log, asked of a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from drumbeat.client.asking import Noun, every_page
from drumbeat.client.request import Query, Request, path_of
from drumbeat.model.audit import AuditEntry, AuditFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.audit import AuditView, audit_of


class AuditLog(Noun):
    """Who changed what."""

    async def list(
        self, wanted: AuditFilter | None = None, page: PageRequest | None = None
    ) -> Page[AuditEntry]:
        """A page of the entries that match every given field of the filter, newest first."""
        request = Request("GET", path_of("audit"), _query(wanted or AuditFilter()))
        return await self._page(request, page, AuditView, audit_of)

    def all(self, wanted: AuditFilter | None = None) -> AsyncGenerator[AuditEntry]:
        """All entries that match, newest first, fetched page by page."""
        return every_page(lambda page: self.list(wanted, page))


def _query(wanted: AuditFilter) -> Query:
    query: list[tuple[str, str]] = []
    for name in ("actor", "action", "target"):
        value = getattr(wanted, name)
        if value is not None:
            query.append((name, value))
    for name, instant in (("since", wanted.since), ("until", wanted.until)):
        if instant is not None:
            query.append((name, instant.isoformat()))
    return query
