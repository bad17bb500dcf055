"""Slots: the places in which a node runs attempts.

One long-lived task per slot takes attempts from a shared buffer, so that a job costs no task and
no timer of its own. A slot that takes one while more wait wakes the next slot first: quick
handlers are then run one after the other by a single slot, slow ones spread over all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from drumbeat.engine.bus import Bus
from drumbeat.engine.executor import Executor
from drumbeat.engine.registry import Registry
from drumbeat.engine.run import Run
from drumbeat.engine.signal import Signal
from drumbeat.model.ending import Ending, GivenBack, Raised, Returned, TimedOut
from drumbeat.model.events import AttemptCompleted, AttemptEnded, AttemptStarted, ServiceFailed
from drumbeat.model.job import Attempt, Change, Hold, Settlement
from drumbeat.ports.clock import Alarm
from drumbeat.ports.runtime import Runtime
from drumbeat.rules.retrying import settlement


class Slots:
    """Runs at most so many attempts at once, and hands over how each ended."""

    def __init__(
        self,
        count: int,
        registry: Registry,
        executor: Executor,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        self._count = count
        self._registry = registry
        self._executor = executor
        self._runtime = runtime
        self._bus = bus
        self._buffer: deque[Attempt] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._waking = False
        self._ending = False
        self._busy = 0
        self._sweep: Alarm | None = None
        self._sweep_at = float("inf")
        self.runs: dict[Hold, Run] = {}
        self.settled: list[Settlement] = []
        """Endings that the store does not know yet."""
        self.on_settled: Callable[[], None] = lambda: None
        self.ended = Signal(runtime.clock)
        """Set whenever nothing runs any more."""
        self.epoch: Callable[[], int | None] = lambda: None
        """The epoch of this node, if it leads."""

    @property
    def count(self) -> int:
        """How many there are."""
        return self._count

    @property
    def free(self) -> int:
        """How many attempts could start now."""
        return self._count - self._busy - len(self._buffer)

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits to run."""
        return not self.runs and not self._buffer

    @property
    def holds(self) -> tuple[Hold, ...]:
        """All holds that this node knows of: under way, waiting to start, or still to settle."""
        return (
            *self.runs,
            *(attempt.hold for attempt in self._buffer),
            *(settled.hold for settled in self.settled),
        )

    def give(self, attempts: Iterable[Attempt]) -> None:
        """Start these as soon as there is a slot."""
        self._buffer.extend(attempts)
        self._wake_one()

    def give_back_waiting(self, reason: str) -> None:
        """Give back what has not started."""
        while self._buffer:
            self._settle(self._buffer.popleft(), GivenBack(reason))

    async def run(self) -> None:
        """Run attempts in all slots, for ever."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._count):
                group.create_task(self._serve(), name=f"drumbeat-slot-{number}")
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                # Tells the cancellation of a slot, which follows, from one of a handler's own.
                self._ending = True
                for run in self.runs.values():
                    run.interruption = run.interruption or GivenBack("the node is stopping")

    async def _serve(self) -> None:
        slot = asyncio.current_task()
        assert slot is not None, "a slot is a task"
        while True:
            while not self._buffer:
                await self._wait()
            attempt = self._buffer.popleft()
            if self._buffer and self._idle and not self._waking:
                self._wake_one()
            self._busy += 1
            try:
                run = await self._perform(attempt, slot)
                lingered = run.left_behind is not None or slot.cancelling() > 0
                if lingered:
                    await self._linger(run, slot)
            except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the slot
                self._bus.emit(ServiceFailed("slot", error, 1))
                self._settle(attempt, Raised(f"the engine failed: {error!r}"))
                lingered = False
            finally:
                self._busy -= 1
            if lingered:  # when the settlement was told of, the slot was not free yet
                self.on_settled()

    async def _perform(self, attempt: Attempt, slot: asyncio.Task[Any]) -> Run:
        run = Run(attempt, self._registry.get(attempt.spec.task), self._runtime.clock, self.epoch)
        run.begin(slot)
        self.runs[attempt.hold] = run
        if run.deadline is not None:
            self._sweep_by(run.deadline)
        if self._bus.hears(AttemptStarted):
            self._bus.emit(AttemptStarted(attempt, self.epoch()))
        try:
            ending = await self._executor.execute(run)
        finally:
            del self.runs[attempt.hold]
        self._settle(attempt, ending, run.started_at)
        return run

    async def _linger(self, run: Run, slot: asyncio.Task[Any]) -> None:
        """Make the slot fit for the next attempt."""
        if slot.cancelling() > 0:
            await self._recover(slot)
        if run.left_behind is not None:
            await asyncio.wait([run.left_behind])
            run.left_behind.exception()  # nobody asks for it any more

    async def _recover(self, slot: asyncio.Task[Any]) -> None:
        """Drop a cancellation that was meant for the handler: the slot serves others after it."""
        if not self._ending:
            while slot.uncancel():
                pass
            with suppress(asyncio.CancelledError):  # one that the handler did not wait for
                await self._runtime.clock.sleep(0)
        if self._ending:
            raise asyncio.CancelledError

    def _settle(self, attempt: Attempt, ending: Ending, started_at: float | None = None) -> None:
        chance = 0.0 if type(ending) is Returned else self._runtime.random.random()
        settled = settlement(attempt, ending, chance)
        self.settled.append(settled)
        if settled.change is not Change.COMPLETE:
            seconds = self._seconds_since(started_at)
            self._bus.emit(AttemptEnded(attempt, ending, settled, seconds))
        elif self._bus.hears(AttemptCompleted):
            self._bus.emit(AttemptCompleted(attempt, self._seconds_since(started_at)))
        if len(self.settled) == 1:  # whoever is woken by the first finds the others too
            self.on_settled()
        if not self.runs:
            self.ended.set()

    def _seconds_since(self, started_at: float | None) -> float:
        return 0.0 if started_at is None else self._runtime.clock.elapsed() - started_at

    async def _wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._idle.append(future)
        try:
            await future
        finally:
            self._waking = False

    def _wake_one(self) -> None:
        """Wake an idle slot, unless one is waking already: it will wake the next if need be."""
        while self._buffer and self._idle and not self._waking:
            future = self._idle.pop()
            if not future.done():
                self._waking = True
                future.set_result(None)

    def _sweep_by(self, deadline: float) -> None:
        """Look for overdue runs at the deadline: one alarm serves them all."""
        if deadline >= self._sweep_at:
            return
        if self._sweep is not None:
            self._sweep.cancel()
        self._sweep_at = deadline
        wait = deadline - self._runtime.clock.elapsed()
        self._sweep = self._runtime.clock.call_later(max(0.0, wait), self._sweep_overdue)

    def _sweep_overdue(self) -> None:
        self._sweep_at, self._sweep = float("inf"), None
        now = self._runtime.clock.elapsed()
        upcoming = float("inf")
        for run in tuple(self.runs.values()):
            deadline = run.deadline
            if deadline is None:
                continue
            if deadline <= now:
                if not isinstance(run.interruption, TimedOut):
                    run.interrupt(TimedOut(now - run.started_at), grace=0.0)
            else:
                upcoming = min(upcoming, deadline)
        if upcoming < float("inf"):
            self._sweep_by(upcoming)
