"""Slots: the long-lived tasks in which one pool of a node runs attempts.

Each slot takes attempts from a shared buffer, so that a job costs no task and no timer of its own.
A slot that takes one while more wait wakes the next slot first: quick handlers are then run one
after the other by few slots, slow ones spread over all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from drumbeat.engine.working.attempt_runner import AttemptRunner
from drumbeat.engine.working.buffer import Buffer
from drumbeat.model.jobs.job import Attempt, Hold
from drumbeat.rules.jobs.prefetch_limit import PATIENCE, Stretch

TURN = 64
"""Attempts that a slot runs at most before it lets others have the event loop."""


class Slots:
    """Runs at most `count` attempts at once."""

    longest_wait = PATIENCE
    """Seconds after which an attempt that has not started is given back."""

    def __init__(self, count: int, runner: AttemptRunner) -> None:
        self.count = count
        self._runner = runner
        self._attempts = attempts = runner.attempts
        self._clock = attempts.runtime.clock
        self._buffer = Buffer(self._clock, attempts.give_back_unstarted, self.longest_wait)
        self._idle: list[asyncio.Future[None]] = []
        self._waking = False
        self._half = 0
        self._watched = False

    @property
    def busy(self) -> int:
        return self._runner.busy

    @property
    def waiting(self) -> int:
        return self._buffer.count

    @property
    def holds(self) -> tuple[Hold, ...]:
        """The holds of the attempts that wait."""
        return self._buffer.holds

    @property
    def have_enough(self) -> bool:
        """Whether less than half of what last waited has started."""
        return self._buffer.count > self._half

    @property
    def have_ended_some(self) -> bool:
        """Whether any attempt has ended since the last measurement."""
        return self._runner.ended > 0

    def give(self, attempts: Iterable[Attempt]) -> None:
        """Start these as soon as there is a slot."""
        self._attempts.look_up_listeners()
        self._buffer.put(attempts)
        self._half = self._buffer.count // 2
        self._watched = self._attempts.quiet = False
        self._wake_one()

    def wake_when_low(self) -> None:
        """Wake the worker once `have_enough` is over; if it is over already, at the next half.

        Until then endings wake nobody: the worker looks for them by itself.
        """
        if not self.have_enough:
            self._half = self._buffer.count // 2
        self._watched = self._buffer.count > 0
        self._attempts.quiet |= self._watched

    def take_out(self, unwanted: Callable[[Attempt], bool]) -> list[Attempt]:
        """Remove some of the attempts that wait: they will not be started."""
        return self._buffer.take_out(unwanted)

    def measure(self) -> Stretch:
        """What happened since the last measurement."""
        buffer, runner = self._buffer, self._runner
        stretch = Stretch(runner.ended, runner.spent, buffer.waited, buffer.gave_up)
        runner.ended, runner.spent, buffer.waited, buffer.gave_up = 0, 0.0, 0.0, False
        return stretch

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(self.count):
                group.create_task(self._serve(), name=f"drumbeat-slot-{number}")
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._runner.stop()

    async def _serve(self) -> None:
        slot, run = this_task(), self._runner.run
        turn = 0
        while True:
            while (attempt := self._buffer.next()) is None:
                turn = 0
                await self._wait()
            if self._buffer.count and self._idle and not self._waking:
                self._wake_one()
            if self._watched and self._buffer.count <= self._half:
                self._watched = self._attempts.quiet = False
                self._attempts.changed.set()
            await run(attempt, slot)
            turn += 1
            if turn == TURN:
                turn = 0
                # A slot that is waking takes over; else this one continues.
                await (self._wait() if self._waking else self._clock.sleep(0))

    async def _wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._idle.append(future)
        try:
            await future
        finally:
            self._waking = False

    def _wake_one(self) -> None:
        """Wake an idle slot, unless one is waking already: it will wake the next."""
        while self._buffer.count and self._idle and not self._waking:
            future = self._idle.pop()
            if not future.done():
                self._waking = True
                future.set_result(None)


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None, "a slot is a task"
    return task
