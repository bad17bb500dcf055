"""The protocol for the audit log."""

from __future__ import annotations

from typing import Protocol

from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.audit import AuditView


class FleetAudit(Protocol):
    """Who changed what, and why."""

    async def list(
        self, wanted: AuditFilter | None = None, page: PageRequest | None = None
    ) -> Page[AuditView]:
        """A page of the entries that match, newest first."""
        ...
