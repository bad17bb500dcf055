"""The queue: carries hints about ready jobs. It tells; the store decides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from drumbeat.model.ids import NodeId
from drumbeat.model.job import Ticket


class Queue(Protocol):
    """Brings tickets from whoever made a job ready to a worker that is free.

    Tickets may be lost or come twice: a claim in the store refuses what is not ready, and the
    promoter publishes again what has been queued for long. Nothing may rest on a ticket.
    """

    @property
    def carries(self) -> bool:
        """False: the store itself tells the workers, and publishing does nothing."""
        ...

    async def open(self) -> None:
        """Make ready for use. Calling it again does nothing."""
        ...

    async def close(self) -> None:
        """Let go of everything. Receivers that wait return empty-handed."""
        ...

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        """Tell the workers of each ticket's queue."""
        ...

    async def receive(self, queues: Sequence[str], by: NodeId, limit: int) -> Sequence[Ticket]:
        """Wait for tickets of these queues and return at most `limit` of them.

        May return none at all, which says: look at the store. Each ticket goes to one receiver;
        until that one acknowledges it, it can be reclaimed. Cancelling the call loses no ticket.
        """
        ...

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        """The tickets were looked at; do not bring them again. Unknown ones are ignored."""
        ...

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        """Bring again what was received but not acknowledged for `idle`; return how many."""
        ...
