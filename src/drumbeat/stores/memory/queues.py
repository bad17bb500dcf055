"""Queues: the memory store's `QueueStore`."""

from __future__ import annotations

from drumbeat.model.queue import PausedQueue, QueueRecord, Queues
from drumbeat.ports.store import At, Topic
from drumbeat.rules.totals import totals
from drumbeat.stores.memory.hints import Hints
from drumbeat.stores.memory.step import Step
from drumbeat.stores.memory.table import JobTable


class MemoryQueues:
    """The queues that jobs wait in."""

    def __init__(self, step: Step, table: JobTable, hints: Hints) -> None:
        self._step = step
        self._table = table
        self._hints = hints

    async def list(self, at: At = None) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        with self._step as step:
            now = step.now(at)
            counts = self._table.lanes.counts()
            oldest = self._table.oldest_queued()
            paused, forgotten = self._table.paused, self._table.forgotten
            return Queues(
                now,
                tuple(
                    QueueRecord(
                        name,
                        counts.get(name, {}),
                        oldest.get(name),
                        paused.get(name),
                        totals(counts.get(name, {}), forgotten.get(name, {})),
                    )
                    for name in sorted({*counts, *paused, *forgotten})
                ),
            )

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Claim no job of a queue any more."""
        with self._step as step:
            now = step.now(at)
            known = self._table.paused.get(name)
            paused = PausedQueue(reason, known.since if known else now)
            self._table.paused[name] = paused
            return paused

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of a queue again, and hint workers at them."""
        with self._step:
            paused = self._table.paused.pop(name, None)
            if paused is not None:
                self._hints.note(Topic.JOBS)
            return paused
