"""The queues of a store: list, pause and resume them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from drumbeat.model.jobs.queue import PausedQueue, Queues

if TYPE_CHECKING:
    from drumbeat.ports.store import At


class QueueStore(Protocol):
    """The queues that jobs wait in."""

    async def list(self, at: At = None) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        ...

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Stop claiming jobs of a queue. Running jobs go on; new ones wait.

        After this has returned, no `take` of any node claims a job of the queue or cancels one for
        its limit. Pausing a paused queue changes only the reason. A queue without jobs may be
        paused too.
        """
        ...

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of the queue again, and wake workers; None: it was not paused."""
        ...
