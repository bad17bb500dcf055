"""The protocol for the audit log."""

from __future__ import annotations

from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.audit import AuditView
from drumbeat.wire.queries import AuditQuery


class FleetAudit(Protocol):
    """Who changed what, and why."""

    @endpoint("GET /audit", "List the audit log, the newest entry first", query=AuditQuery)
    async def list(
        self, wanted: AuditFilter | None = None, page: PageRequest | None = None
    ) -> Page[AuditView]:
        """A page of the entries that match, newest first."""
        ...
