"""The queue: carries tickets for ready jobs to workers. The store decides who runs a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from drumbeat.model.ids import NodeId
    from drumbeat.model.jobs.job import Ticket


class Queue(Protocol):
    """Brings the tickets of ready jobs to free workers.

    Tickets may be lost or come twice: a claim in the store refuses a job that is not ready, and the
    promoter publishes tickets again for jobs that have been queued for long. No guarantee depends
    on a ticket.

    Any call may raise `Unavailable`. A call that raised it may or may not have been executed, so
    its tickets may come twice.
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

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        """Add tickets. A queue that nobody receives from is bounded: it loses the oldest."""
        ...

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        """Acknowledge `done`, then wait for tickets of these queues; return at most `limit`.

        May return none, which means: ask the store. Each ticket goes to one receiver and can be
        reclaimed until that receiver acknowledges it. Cancelling the call loses no ticket.
        """
        ...

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        """Do not deliver these tickets, as they were received, again. Others are ignored."""
        ...

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        """Deliver tickets again that were not acknowledged for `idle`; return how many.

        Also forgets receivers that are gone.
        """
        ...

    async def count(self) -> int:
        """How many tickets there are: those that wait, and those not acknowledged yet."""
        ...
