"""The store: the parts of the memory store, on one truth."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic
from drumbeat.stores.memory.audit import MemoryAudit
from drumbeat.stores.memory.fence import EpochOf, MemoryFence, next_epoch
from drumbeat.stores.memory.hints import Hints
from drumbeat.stores.memory.jobs import MemoryJobs
from drumbeat.stores.memory.nodes import MemoryNodes
from drumbeat.stores.memory.queues import MemoryQueues
from drumbeat.stores.memory.retention import Kept, MemoryRetention
from drumbeat.stores.memory.roster import Roster
from drumbeat.stores.memory.schedules import MemorySchedules
from drumbeat.stores.memory.step import Step
from drumbeat.stores.memory.table import JobTable
from drumbeat.stores.memory.tokens import MemoryTokens


class MemoryStore:
    """A store in the memory of one process, safe to share between its threads and their loops.

    What it holds lives as long as the object: closing it forgets nothing, so that a node can stop
    and another start on the same truth.
    """

    always_hints = True
    writers = 1
    joining = None

    def __init__(self, clock: Clock, epoch_of: EpochOf = next_epoch) -> None:
        self._hints = Hints()
        self._step = Step(clock, self._hints)
        self._table = JobTable(self._hints)
        self.nodes = MemoryNodes(self._step, self._table)
        self.jobs = MemoryJobs(self._step, self._table, self.nodes)
        self.fence = MemoryFence(self._step, epoch_of)
        self.schedules = MemorySchedules(self._step, self._table, self.fence, Roster(self._hints))
        self.queues = MemoryQueues(self._step, self._table, self._hints)
        self.audit = MemoryAudit(self._step)
        self.tokens = MemoryTokens(self._step)
        self.retention = MemoryRetention(
            self._step, Kept(self._table, self.schedules.ledger, self.nodes, self.audit)
        )

    async def open(self) -> None:
        """Nothing to make ready."""

    async def close(self) -> None:
        """Nothing to let go of."""

    async def now(self) -> datetime:
        """The injected clock."""
        return self._step.now()

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the loop that runs here now, after a step that touched the topic."""
        with self._step:
            subscription = self._hints.subscribe(topic, wake)

        def unsubscribe() -> None:
            with self._step:
                self._hints.unsubscribe(topic, subscription)

        return unsubscribe
