"""Process slots: the slots of the pool whose handlers run in child processes.

Starting a child takes longer than an attempt may wait elsewhere. So a slot gets its child ready
while the attempt still waits in the buffer, and begins the attempt only then. Until that moment the
attempt can be given back or cancelled without a trace, and it begins only if this node still may
run it: it is not too old, and the store has received a heartbeat recently.
"""

from __future__ import annotations

from typing import NoReturn

from drumbeat.engine.executing.processes import HandlerProcess, Processes
from drumbeat.engine.working.slots import Slots, this_task
from drumbeat.model.events import ServiceFailed
from drumbeat.model.jobs.ending import GivenBack
from drumbeat.model.jobs.job import Attempt

START_TIMEOUT = 5.0
"""Seconds that an attempt waits for a new child before another node may have it."""
SLOW_START = 60.0
"""Seconds after which a child that is not ready is reported."""
SHORTEST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds that a slot pauses after its child died before it was ready."""
NOT_STARTED = GivenBack("no process could be started for it")
NO_HEARTBEAT = GivenBack("the store has not heard of the node, so another may have the job")


class ProcessSlots(Slots):
    """Runs each attempt in a child process that is ready for it."""

    longest_wait = START_TIMEOUT
    _starting = 0
    """How many slots get a child ready."""
    _paused = 0
    """How many slots pause, since their last child did not start."""
    _failures = 0
    """How many children in a row did not start."""

    @property
    def free(self) -> int:
        """How many more attempts can be claimed and started as soon as a child is ready.

        Attempts that wait are for the slots that get a child ready. A slot that gets one ready
        while nothing waits any more is not free: how long it takes is unknown.
        """
        unavailable = self._runner.busy + self._paused + max(self._starting, self._buffer.count)
        return max(0, self.count - unavailable)

    @property
    def _processes(self) -> Processes:
        return self._runner.executor.processes

    async def _serve(self) -> NoReturn:
        slot = this_task()
        while True:
            while self._buffer.count <= self._starting:
                await self._wait()
            child = await self._start()
            if child is None:
                continue
            try:
                attempt = self._next()
                if attempt is not None:
                    await self._runner.run(attempt, slot, child)
            finally:
                self._processes.release(child)
            if attempt is None:
                self._attempts.changed.set()  # a ready child is idle

    async def _start(self) -> HandlerProcess | None:
        """Get a child ready. None: it died, and this slot has paused."""
        alarm = None
        self._starting += 1
        try:
            if self._buffer.count > self._starting:
                self._wake_one()
            alarm = self._clock.call_later(SLOW_START, self._report_slow_start)
            child = await self._processes.ready(self._runner.registry.process_modules)
        except Exception as error:  # noqa: BLE001 - whatever keeps a child from starting
            failed = error
        else:
            self._failures = 0
            return child
        finally:
            self._starting -= 1
            if alarm is not None:
                alarm.cancel()
        await self._pause(failed)
        return None

    def _next(self) -> Attempt | None:
        """The attempt to begin now, if there is one and this node may still begin it."""
        if self._attempts.may_begin:
            return self._buffer.next()
        self._give_back(NO_HEARTBEAT)
        return None

    async def _pause(self, error: Exception) -> None:
        """Report that no child started, and claim nothing for this slot for a while."""
        self._failures += 1
        self._attempts.bus.emit(ServiceFailed("processes", error, self._failures))
        self._give_back(NOT_STARTED)
        longest = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(self._failures - 1, 10))
        self._paused += 1
        try:
            chance = self._attempts.runtime.random.random()
            await self._clock.sleep(longest * (0.5 + chance / 2))
        finally:
            self._paused -= 1
        self._attempts.changed.set()

    def _give_back(self, ending: GivenBack) -> None:
        for attempt in self._buffer.take_out(lambda _: True):
            self._attempts.settle(attempt, ending)

    def _report_slow_start(self) -> None:
        late = TimeoutError(f"a process for handlers is not ready after {SLOW_START:g} s")
        self._attempts.bus.emit(ServiceFailed("processes", late, 1))
