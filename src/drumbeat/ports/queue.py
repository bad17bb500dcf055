"""The queue: carries tickets for ready jobs to workers. The store decides who runs a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket


class Queue(Protocol):
    """Brings the tickets of ready jobs to free workers.

    Tickets may be lost or come twice: a claim in the store refuses a job that is not ready, and the
    promoter publishes tickets again for jobs that have been queued for long. No guarantee depends
    on a ticket.
    """

    @property
    def carries(self) -> bool:
        """False: the store itself hints the workers, and publishing does nothing."""
        ...

    async def open(self) -> None:
        """Make ready for use. Calling it again does nothing."""
        ...

    async def close(self) -> None:
        """Release all connections. Waiting receivers return no tickets."""
        ...

    async def publish(self, tickets: Sequence[Ticket]) -> None: ...

    async def receive(self, queues: Sequence[str], by: NodeId, limit: int) -> Sequence[Ticket]:
        """Wait for tickets of these queues and return at most `limit` of them.

        May return none, which means: ask the store. Each ticket goes to one receiver and can be
        reclaimed until that receiver acknowledges it. Cancelling the call loses no ticket.
        """
        ...

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        """Do not deliver these tickets again. Unknown tickets are ignored."""
        ...

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        """Deliver tickets again that were not acknowledged for `idle`; return how many."""
        ...
