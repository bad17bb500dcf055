"""ExecutionPools: each place where handlers run has its own slots, and its own claims.

Handlers on the event loop and in threads begin as soon as a slot is free. Handlers in processes
need a child process, of which there are few. If both were claimed together, jobs for processes
would occupy the slots of the others, on a node that cannot start them. So the worker asks the store
once for each pool, for the tasks of that pool and for as many as it can start. A node without tasks
for processes has one pool and asks once. See ADR 0026.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence

from drumbeat.engine.executing.run import CANCEL_GRACE
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.task import Place
from drumbeat.engine.working.attempts import Attempts
from drumbeat.engine.working.process_slots import ProcessSlots
from drumbeat.engine.working.slots import Slots
from drumbeat.model.jobs.ending import Ending, GivenBack
from drumbeat.model.jobs.job import Attempt, Hold
from drumbeat.rules.jobs import prefetch_limit
from drumbeat.rules.jobs.prefetch_limit import Ask, ClaimAnswer


class ExecutionPool(ABC):
    """The tasks of one place or more, and the slots in which they run."""

    def __init__(self, places: frozenset[Place], slots: Slots, registry: TaskRegistry) -> None:
        self._places = places
        self._registry = registry
        self.slots = slots
        self.ask_at = 0.0
        """Not asked for before this elapsed time: the store had nothing. Hints reset it."""

    @property
    def tasks(self) -> frozenset[str]:
        return self._registry.runnable_in(self._places)

    @property
    @abstractmethod
    def wants_more(self) -> bool:
        """Whether the store should be asked for more."""

    @property
    def room(self) -> int:
        """How many attempts it could start now, and a few more during a backlog of quick ones."""
        return 0

    @property
    def has_enough(self) -> bool:
        """Whether less than half of what it was last given has started."""
        return False

    @property
    def ahead(self) -> int:
        """How many attempts it may hold although no slot is free for them."""
        return 0

    @property
    def has_waiting(self) -> bool:
        """Whether it holds attempts that its slots will start by themselves, one after another."""
        return False

    @abstractmethod
    def ask(self) -> Ask:
        """How many attempts to claim."""

    @abstractmethod
    def start(self, ask: Ask, attempts: Sequence[Attempt]) -> None:
        """Start what the store gave for this request."""


class SlotPool(ExecutionPool):
    """Handlers that begin as soon as a slot is free: on the event loop and in threads."""

    def __init__(self, places: frozenset[Place], slots: Slots, registry: TaskRegistry) -> None:
        super().__init__(places, slots, registry)
        self._allowance = prefetch_limit.allowance_at_start(slots.count)

    @property
    def wants_more(self) -> bool:
        return not self.slots.have_enough

    @property
    def room(self) -> int:
        free = max(0, self.slots.count - self.slots.busy - self.slots.waiting)
        return free + self.ahead if self.wants_more and free else 0

    @property
    def has_enough(self) -> bool:
        return self.slots.have_enough

    @property
    def ahead(self) -> int:
        return self._allowance.ahead

    @property
    def has_waiting(self) -> bool:
        return self.slots.waiting > 0

    def ask(self) -> Ask:
        """As many as can start, and more while a backlog of quick jobs lasts."""
        slots = self.slots
        self._allowance = prefetch_limit.after(self._allowance, slots.measure())
        return prefetch_limit.ask_for(self._allowance, slots.busy, slots.waiting)

    def start(self, ask: Ask, attempts: Sequence[Attempt]) -> None:
        """Start what the store gave, and adapt how much to ask for next."""
        answer = ClaimAnswer(len(attempts), self.slots.waiting == 0, _any_is_last(attempts))
        self._allowance = prefetch_limit.answered(self._allowance, ask, answer)
        self.slots.give(attempts)


class ProcessPool(ExecutionPool):
    """Handlers that need a process: nothing is claimed without a free one."""

    def __init__(self, slots: ProcessSlots, registry: TaskRegistry) -> None:
        super().__init__(frozenset({Place.PROCESS}), slots, registry)
        self._process_slots = slots

    @property
    def wants_more(self) -> bool:
        return self._process_slots.free > 0

    @property
    def room(self) -> int:
        return self._process_slots.free

    def ask(self) -> Ask:
        self.slots.measure()
        return Ask(self._process_slots.free)

    def start(self, ask: Ask, attempts: Sequence[Attempt]) -> None:
        del ask
        self.slots.give(attempts)


class ExecutionPools:
    """All pools of a node, and the attempts in them."""

    def __init__(self, pools: Sequence[ExecutionPool], attempts: Attempts) -> None:
        self._pools = tuple(pools)
        self.attempts = attempts

    @property
    def open(self) -> Sequence[ExecutionPool]:
        """The pools that have tasks; at least the first one."""
        pools = self._pools
        if len(pools) == 1:
            return pools
        return [pool for pool in pools if pool.tasks] or pools[:1]

    @property
    def count(self) -> int:
        """How many attempts the node may run at once."""
        return sum(pool.slots.count for pool in self.open)

    @property
    def busy(self) -> int:
        return sum(pool.slots.busy for pool in self._pools)

    @property
    def waiting(self) -> int:
        return sum(pool.slots.waiting for pool in self._pools)

    @property
    def idle(self) -> bool:
        return not self.attempts.running and not self.waiting

    @property
    def unended(self) -> tuple[Hold, ...]:
        """The holds of all attempts that have not ended: running, or waiting to start."""
        waiting = [hold for pool in self._pools for hold in pool.slots.holds]
        return (*self.attempts.runs, *waiting)

    @property
    def holds(self) -> tuple[Hold, ...]:
        """All holds that this node knows of: unended, or still to settle."""
        return (*self.unended, *(settled.hold for settled in self.attempts.settled))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for pool in self._pools:
                group.create_task(pool.slots.run(), name="drumbeat-slots")

    def give_back_waiting(self, reason: str, queue: str | None = None) -> None:
        """Give back what has not started, of one queue or of all."""
        for pool in self._pools:
            for attempt in pool.slots.take_out(lambda each: queue in (None, each.spec.queue)):
                self.attempts.settle(attempt, GivenBack(reason))

    def give_back(self, reason: str, queue: str | None = None, grace: float = CANCEL_GRACE) -> None:
        """Give back what has not started, and end what runs, of one queue or of all."""
        self.give_back_waiting(reason, queue)
        for run in self.attempts.runs.values():
            if queue in (None, run.attempt.spec.queue):
                run.interrupt(GivenBack(reason), grace)

    def interrupt(self, hold: Hold, ending: Ending, grace: float) -> None:
        """End an attempt early. One that has not started does not start.

        An attempt that is already ending ends sooner, if this grace is over sooner.
        """
        run = self.attempts.runs.get(hold)
        if run is not None:
            if run.would_end_sooner(grace):
                run.interrupt(ending, grace)
            return
        for pool in self._pools:
            for attempt in pool.slots.take_out(lambda each: each.hold == hold):
                self.attempts.settle(attempt, ending)


def _any_is_last(attempts: Sequence[Attempt]) -> bool:
    for attempt in attempts:  # noqa: SIM110 - twice as fast as any()
        if attempt.number > attempt.spec.retry.max_retries:
            return True
    return False
