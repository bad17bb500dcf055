"""Slots: the places in which a node runs attempts.

One long-lived task per slot takes attempts from a shared buffer, so that a job costs no task and
no timer of its own. A slot that takes one while more wait wakes the next slot first: quick
handlers are then run one after the other by few slots, slow ones spread over all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from drumbeat.engine.buffer import Buffer
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
from drumbeat.rules.prefetching import Stretch
from drumbeat.rules.retrying import settlement

TURN = 64
"""Attempts that a slot runs at most before it lets others have the event loop."""
NEVER_STARTED = GivenBack("it waited too long for a free slot")


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
        self._clock = runtime.clock
        self._bus = bus
        self._buffer = Buffer(runtime.clock, self._hand_back)
        self._idle: list[asyncio.Future[None]] = []
        self._waking = False
        self._ending = False
        self._heard = (-1, False, False)
        """Whether anybody hears of starts and of completions, as of that change on the bus."""
        self._busy = 0
        self._half = 0
        self._watched = False
        self._ended = 0
        self._spent = 0.0
        self._sweep: Alarm | None = None
        self._sweep_at = float("inf")
        self._runs: dict[Run, None] = {}
        self.settled: list[Settlement] = []
        """Endings that the store does not know yet."""
        self.settled_since = 0.0
        """When the first of these came about, by elapsed time."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is something to settle, and when it is time for more work."""
        self.ended = Signal(runtime.clock)
        """Set whenever nothing runs any more."""
        self.epoch: Callable[[], int | None] = lambda: None
        """The epoch of this node, if it leads."""

    @property
    def count(self) -> int:
        """How many there are."""
        return self._count

    @property
    def busy(self) -> int:
        """How many run an attempt."""
        return self._busy

    @property
    def waiting(self) -> int:
        """How many attempts wait for a slot."""
        return self._buffer.count

    @property
    def runs(self) -> dict[Hold, Run]:
        """The attempts under way, by their holds."""
        return {run.attempt.hold: run for run in self._runs}

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits to run."""
        return not self._runs and not self._buffer.count

    @property
    def unended(self) -> tuple[Hold, ...]:
        """The holds of all attempts that have not ended: under way, or waiting to start."""
        return (*self.runs, *self._buffer.holds)

    @property
    def holds(self) -> tuple[Hold, ...]:
        """All holds that this node knows of: those, and what is still to settle."""
        return (*self.unended, *(settled.hold for settled in self.settled))

    @property
    def have_plenty(self) -> bool:
        """Whether less than half of what last waited has started."""
        return self._buffer.count > self._half

    def give(self, attempts: Iterable[Attempt]) -> None:
        """Start these as soon as there is a slot."""
        self._listen()
        self._buffer.put(attempts)
        self._half = self._buffer.count // 2
        self._watched = False
        self._wake_one()

    def tell_when_low(self) -> None:
        """Tell as soon as they have plenty no more; if that is so already, at the next half.

        Until then nothing else is told: whoever asked looks by itself for what is to settle.
        """
        if not self.have_plenty:
            self._half = self._buffer.count // 2
        self._watched = self._buffer.count > 0

    def give_back_waiting(self, reason: str, queue: str | None = None) -> None:
        """Give back what has not started, of one queue or of all."""
        for attempt in self._buffer.take_out(lambda each: queue in (None, each.spec.queue)):
            self._settle(attempt, GivenBack(reason))

    def interrupt(self, hold: Hold, ending: Ending, grace: float) -> None:
        """End an attempt early. One that has not started does not start.

        One that is being ended already is ended sooner, if the grace is over sooner than that.
        """
        run = self.runs.get(hold)
        if run is not None:
            if run.would_end_sooner(grace):
                run.interrupt(ending, grace)
            return
        for attempt in self._buffer.take_out(lambda each: each.hold == hold):
            self._settle(attempt, ending)

    def seen(self) -> Stretch:
        """What happened since this was last asked."""
        buffer = self._buffer
        stretch = Stretch(self._ended, self._spent, buffer.waited, buffer.gave_up)
        self._ended, self._spent, buffer.waited, buffer.gave_up = 0, 0.0, 0.0, False
        return stretch

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
                for run in self._runs:
                    run.interruption = run.interruption or GivenBack("the node is stopping")

    async def _serve(self) -> None:
        slot = asyncio.current_task()
        assert slot is not None, "a slot is a task"
        turn = 0
        while True:
            while (attempt := self._buffer.next()) is None:
                turn = 0
                await self._wait()
            if self._buffer.count and self._idle and not self._waking:
                self._wake_one()
            if self._watched and self._buffer.count <= self._half:
                self._watched = False
                self.on_change()
            self._busy += 1
            try:
                run = Run(attempt, self._registry.get(attempt.spec.task), self._clock, self.epoch)
                await self._perform(run, slot)
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
                self.on_change()
            turn += 1
            if turn == TURN:
                turn = 0
                # Another that is waking goes on in its place; else it does so itself.
                await (self._wait() if self._waking else self._clock.sleep(0))

    async def _perform(self, run: Run, slot: asyncio.Task[Any]) -> None:
        attempt = run.attempt
        run.begin(slot)
        self._runs[run] = None
        if run.deadline is not None:
            self._sweep_by(run.deadline)
        if self._heard[0] != self._bus.changes:
            self._listen()
        if self._heard[1]:
            self._bus.emit(AttemptStarted(attempt, self.epoch()))
        try:
            ending = await self._executor.execute(run)
        finally:
            del self._runs[run]
        seconds = self._clock.elapsed() - run.started_at
        self._ended += 1
        self._spent += seconds
        self._settle(attempt, ending, seconds)

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
                await self._clock.sleep(0)
        if self._ending:
            raise asyncio.CancelledError

    def _settle(self, attempt: Attempt, ending: Ending, seconds: float = 0.0) -> None:
        chance = 0.0 if type(ending) is Returned else self._runtime.random.random()
        settled = settlement(attempt, ending, chance)
        self._keep(settled)
        if settled.change is not Change.COMPLETE:
            self._bus.emit(AttemptEnded(attempt, ending, settled, seconds))
            return
        if self._heard[0] != self._bus.changes:
            self._listen()
        if self._heard[2]:
            self._bus.emit(AttemptCompleted(attempt, seconds))

    def _listen(self) -> None:
        """Ask who hears, once for many attempts: asking for each costs more than telling nobody."""
        bus = self._bus
        self._heard = (bus.changes, bus.hears(AttemptStarted), bus.hears(AttemptCompleted))

    def _hand_back(self, attempt: Attempt) -> None:
        """An attempt waited too long. It never began, so nobody is told that it ended."""
        self._keep(settlement(attempt, NEVER_STARTED, 0.0))

    def _keep(self, settled: Settlement) -> None:
        self.settled.append(settled)
        if len(self.settled) == 1:  # whoever is woken by the first finds the others too
            self.settled_since = self._clock.elapsed()
            if not self._watched:
                self.on_change()
        if not self._runs:
            self.ended.set()

    async def _wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._idle.append(future)
        try:
            await future
        finally:
            self._waking = False

    def _wake_one(self) -> None:
        """Wake an idle slot, unless one is waking already: it will wake the next if need be."""
        while self._buffer.count and self._idle and not self._waking:
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
        wait = deadline - self._clock.elapsed()
        self._sweep = self._clock.call_later(max(0.0, wait), self._sweep_overdue)

    def _sweep_overdue(self) -> None:
        self._sweep_at, self._sweep = float("inf"), None
        now = self._clock.elapsed()
        upcoming = float("inf")
        for run in tuple(self._runs):
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
