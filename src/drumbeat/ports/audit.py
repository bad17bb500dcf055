"""The audit log, as a role of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from drumbeat.model.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest

if TYPE_CHECKING:
    from drumbeat.ports.store import At


class AuditLog(Protocol):
    """Who changed what. Whoever changes something on request records it first, then does it.

    A change that nobody recorded is therefore impossible, and one whose outcome is missing is one
    that may or may not have happened.
    """

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        """Write down what is about to be done. Only once this has returned may it be done.

        Details that JSON cannot carry are an `InvalidInput`, and nothing is written.
        """
        ...

    async def conclude(self, entry_id: int, outcome: str) -> None:
        """Say what came of it. The first outcome stands; an entry that was pruned stays gone."""
        ...

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        """Entries that match every given field of the filter, newest first."""
        ...
