"""The audit log of a remote fleet."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from drumbeat.fleet.remote.request import Query
from drumbeat.fleet.remote.resource import RemoteResource, every_page
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.audit import AuditView


class RemoteAudit(RemoteResource):
    """Implements `FleetAudit`."""

    async def list(
        self, wanted: AuditFilter | None = None, page: PageRequest | None = None
    ) -> Page[AuditView]:
        """A page of the entries that match, newest first."""
        query = _query(wanted or AuditFilter())
        return await self._page(AuditView, "audit", page=page, query=query)

    def all(self, wanted: AuditFilter | None = None) -> AsyncGenerator[AuditView]:
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
