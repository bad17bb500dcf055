"""The audit log, as a role of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest

if TYPE_CHECKING:
    from drumbeat.ports.store import At


class AuditLog(Protocol):
    """Who changed what. A change on request is recorded first and then made.

    So every change has an entry. A change whose entry has no outcome may or may not have been made.
    """

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        """Record a change that is about to be made. It may be made only after this has returned.

        Raises `InvalidInput` and writes nothing if the details cannot be written as JSON.
        """
        ...

    async def conclude(self, entry_id: int, outcome: str) -> None:
        """Record the outcome. The first outcome stands; a pruned entry is not written again."""
        ...

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        """Entries that match every given field of the filter, newest first."""
        ...
