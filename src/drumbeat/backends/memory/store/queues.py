"""Queues: the memory store's `QueueStore`."""

from __future__ import annotations

from drumbeat.backends.memory.store.hints import Hints
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.step import Step
from drumbeat.backends.store_rules import queue_records
from drumbeat.model.jobs.queue import PausedQueue, Queues
from drumbeat.ports.store import At, Topic


class MemoryQueues:
    """The queues that jobs wait in."""

    def __init__(self, step: Step, table: JobTable, hints: Hints) -> None:
        self._step = step
        self._table = table
        self._hints = hints

    async def list(self, at: At = None) -> Queues:
        with self._step as step:
            now = step.now(at)
            counts = self._table.lanes.counts()
            oldest = self._table.oldest_queued()
            paused, forgotten = self._table.paused, self._table.forgotten
            return Queues(now, queue_records(counts, oldest, paused, forgotten))

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        with self._step as step:
            now = step.now(at)
            known = self._table.paused.get(name)
            paused = PausedQueue(reason, known.since if known else now)
            self._table.paused[name] = paused
            return paused

    async def resume(self, name: str) -> PausedQueue | None:
        with self._step:
            paused = self._table.paused.pop(name, None)
            if paused is not None:
                self._hints.note(Topic.JOBS)
            return paused
