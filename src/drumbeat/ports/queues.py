"""Queues, as a role of the store: looked at, paused and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from drumbeat.model.queue import PausedQueue, Queues

if TYPE_CHECKING:
    from drumbeat.ports.store import At


class QueueStore(Protocol):
    """The queues that jobs wait in."""

    async def list(self, at: At = None) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        ...

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Claim no job of a queue any more. Those that run go on; new ones wait.

        Once this has returned no `take` of any node claims a job of the queue, nor cancels one for
        its limit. A queue that is paused already stays so since then, for the new reason. A queue
        that nobody has heard of may be paused too.
        """
        ...

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of a queue again, and hint workers at them; None: it was not paused."""
        ...
