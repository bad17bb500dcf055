"""The memory store, made of its parts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from drumbeat.backends.memory.store.audit import MemoryAudit
from drumbeat.backends.memory.store.fence import EpochOf, MemoryFence, next_epoch
from drumbeat.backends.memory.store.hints import Hints
from drumbeat.backends.memory.store.jobs.job_store import MemoryJobs
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.nodes import MemoryNodes
from drumbeat.backends.memory.store.queues import MemoryQueues
from drumbeat.backends.memory.store.retention import Kept, MemoryRetention
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.backends.memory.store.schedules.schedule_table import ScheduleTable
from drumbeat.backends.memory.store.step import Step
from drumbeat.backends.memory.store.tokens import MemoryTokens
from drumbeat.forks import renew_in_children
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic
from drumbeat.ports.witness import Witnesses


class MemoryStore:
    """A store in the memory of one process, safe to share between its threads and their loops.

    Its data lives as long as the object: closing it deletes nothing, so that a node can stop and
    another start on the same data.
    """

    always_hints = True
    writers = 1
    joining = None

    def __init__(self, clock: Clock, epoch_of: EpochOf = next_epoch) -> None:
        self._hints = Hints()
        self._step = Step(clock, self._hints)
        self._table = JobTable(self._hints)
        self.nodes = MemoryNodes(self._step, self._table)
        self.witnesses: Witnesses | None = None  # the process dies together with its store
        self.jobs = MemoryJobs(self._step, self._table, self.nodes)
        self.fence = MemoryFence(self._step, epoch_of)
        self._schedule_table = ScheduleTable(self._hints)
        self.schedules = MemorySchedules(self._step, self._table, self.fence, self._schedule_table)
        self.queues = MemoryQueues(self._step, self._table, self._hints)
        self.audit = MemoryAudit(self._step)
        self.tokens = MemoryTokens(self._step)
        self.retention = MemoryRetention(
            self._step, Kept(self._table, self.schedules.ledger, self.nodes, self.audit)
        )
        renew_in_children(self._renew)

    async def open(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """Do nothing: the data stays."""

    async def now(self) -> datetime:
        return self._step.now()

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        with self._step:
            listener = self._hints.subscribe(topic, wake)

        def unsubscribe() -> None:
            with self._step:
                self._hints.unsubscribe(topic, listener)

        return unsubscribe

    def _renew(self) -> None:
        """Jobs, schedules and nodes that exist belong to the parent, which goes on with them."""
        used = bool(self._table.records or len(self._schedule_table) or len(self.nodes))
        self._hints.renew()
        self._step.renew(used=used)
