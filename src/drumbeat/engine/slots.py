"""Slots: the places in which one room of a node runs attempts.

One long-lived task per slot takes attempts from a shared buffer, so that a job costs no task and
no timer of its own. A slot that takes one while more wait wakes the next slot first: quick
handlers are then run one after the other by few slots, slow ones spread over all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from drumbeat.engine.attempts import Attempts
from drumbeat.engine.buffer import Buffer
from drumbeat.engine.executor import Executor
from drumbeat.engine.processes import Child
from drumbeat.engine.registry import Registry
from drumbeat.engine.run import Run
from drumbeat.model.ending import GivenBack, Raised
from drumbeat.model.events import ServiceFailed
from drumbeat.model.job import Attempt, Hold
from drumbeat.rules.prefetching import PATIENCE, Stretch

TURN = 64
"""Attempts that a slot runs at most before it lets others have the event loop."""


class Slots:
    """Runs at most so many attempts at once."""

    patience = PATIENCE
    """Seconds after which an attempt that has not started is given back."""

    def __init__(
        self, count: int, registry: Registry, executor: Executor, attempts: Attempts
    ) -> None:
        self._count = count
        self._registry = registry
        self._executor = executor
        self._attempts = attempts
        self._clock = attempts.runtime.clock
        self._buffer = Buffer(self._clock, attempts.hand_back, self.patience)
        self._idle: list[asyncio.Future[None]] = []
        self._waking = False
        self._ending = False
        self._busy = 0
        self._half = 0
        self._watched = False
        self._ended = 0
        self._spent = 0.0

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
        """How many attempts wait to be started."""
        return self._buffer.count

    @property
    def holds(self) -> tuple[Hold, ...]:
        """The holds of the attempts that wait to be started."""
        return self._buffer.holds

    @property
    def have_plenty(self) -> bool:
        """Whether less than half of what last waited has started."""
        return self._buffer.count > self._half

    @property
    def have_ended_some(self) -> bool:
        """Whether any attempt has ended since `seen` was last asked."""
        return self._ended > 0

    def give(self, attempts: Iterable[Attempt]) -> None:
        """Start these as soon as there is a slot."""
        self._attempts.listen()
        self._buffer.put(attempts)
        self._half = self._buffer.count // 2
        self._watched = self._attempts.quiet = False
        self._wake_one()

    def tell_when_low(self) -> None:
        """Tell as soon as they have plenty no more; if that is so already, at the next half.

        Until then nothing else is told: whoever asked looks by itself for what is to settle.
        """
        if not self.have_plenty:
            self._half = self._buffer.count // 2
        self._watched = self._buffer.count > 0
        self._attempts.quiet |= self._watched

    def take_out(self, unwanted: Callable[[Attempt], bool]) -> list[Attempt]:
        """Take out some of the attempts that wait: they will not be started."""
        return self._buffer.take_out(unwanted)

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
                for run in self._attempts.running:
                    run.interruption = run.interruption or GivenBack("the node is stopping")

    async def _serve(self) -> None:
        slot = this_task()
        turn = 0
        while True:
            while (attempt := self._buffer.next()) is None:
                turn = 0
                await self._wait()
            if self._buffer.count and self._idle and not self._waking:
                self._wake_one()
            if self._watched and self._buffer.count <= self._half:
                self._watched = self._attempts.quiet = False
                self._attempts.on_change()
            await self._perform(attempt, slot)
            turn += 1
            if turn == TURN:
                turn = 0
                # Another that is waking goes on in its place; else it does so itself.
                await (self._wait() if self._waking else self._clock.sleep(0))

    async def _perform(
        self, attempt: Attempt, slot: asyncio.Task[Any], child: Child | None = None
    ) -> None:
        """Run the handler of one attempt to its end, and keep how it ended."""
        attempts = self._attempts
        lingered = False
        self._busy += 1
        try:
            definition = self._registry.get(attempt.spec.task)
            run = Run(attempt, definition, self._clock, attempts.epoch)
            run.begin(slot)
            run.child = child
            attempts.begin(run)
            try:
                ending = await self._executor.execute(run)
            finally:
                del attempts.running[run]
            seconds = self._clock.elapsed() - run.started_at
            self._ended += 1
            self._spent += seconds
            attempts.settle(attempt, ending, seconds)
            if run.left_behind is not None or slot.cancelling() > 0:
                lingered = True
                await self._linger(run, slot)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the slot
            attempts.bus.emit(ServiceFailed("slot", error, 1))
            attempts.settle(attempt, Raised(f"the engine failed: {error!r}"))
            lingered = False
        finally:
            self._busy -= 1
        if lingered:  # when the settlement was told of, the slot was not free yet
            attempts.on_change()

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


def this_task() -> asyncio.Task[Any]:
    """The task of the slot that asks."""
    task = asyncio.current_task()
    assert task is not None, "a slot is a task"
    return task
