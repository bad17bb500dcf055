"""The supervisor: several nodes, each in a process of its own, started again when one dies."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from drumbeat.cli.exit_codes import Exit
from drumbeat.cli.running.child_process import Child
from drumbeat.engine.plumbing.runtime import SystemClock

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
ENDED_WELL = (Exit.OK, -signal.SIGTERM, -signal.SIGINT)
"""Exit codes of a process that was asked to end; a signal ends one that has not started yet."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a process that died is started again: twice as long each time, up to a bound."""
SETTLED = 30.0
"""Seconds after which a process counts as having started well."""


class Supervisor:
    """Keeps a number of processes running until a signal, and passes the signal to all."""

    def __init__(self, arguments: Sequence[str], count: int, say: Callable[[str], None]) -> None:
        self._arguments = arguments
        self._count = count
        self._say = say
        self._clock = SystemClock()
        self._children: dict[int, Child] = {}
        self._stopping = asyncio.Event()

    async def run(self) -> int:
        """Run until all have ended; 0 if each ended well."""
        with passing_signals(self._pass_on):
            async with asyncio.TaskGroup() as group:
                runs = [group.create_task(self._keep(number)) for number in range(self._count)]
        return max(run.result() for run in runs)

    def _pass_on(self, number: signal.Signals) -> None:
        self._stopping.set()
        for child in self._children.values():
            child.signal(number)

    async def _keep(self, number: int) -> int:
        """Keep one process running; its last exit code."""
        pause = FIRST_PAUSE
        while True:
            child = self._children[number] = Child(self._arguments)
            await child.start()
            if self._stopping.is_set():  # by a signal that came before it could be passed on
                child.signal(signal.SIGTERM)
            began = self._clock.elapsed()
            code = await child.ended()
            if code == Exit.OK or self._stopping.is_set():
                return Exit.OK if code in ENDED_WELL else Exit.FAILED
            if code == Exit.USAGE:  # it would fail again
                self._pass_on(signal.SIGTERM)
                return code
            if self._clock.elapsed() - began > SETTLED:
                pause = FIRST_PAUSE
            self._say(f"Process {child.number} ended with {code}; starting another in {pause:g} s.")
            if await self._paused(pause):
                return Exit.FAILED
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _paused(self, seconds: float) -> bool:
        """Pause; True if a signal ended the pause."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return False
        return True


@contextmanager
def passing_signals(pass_on: Callable[[signal.Signals], None]) -> Generator[None]:
    """Call a function for each signal that stops a node, instead of ending."""
    loop = asyncio.get_running_loop()
    for number in STOPPING:
        loop.add_signal_handler(number, pass_on, number)
    try:
        yield
    finally:
        for number in STOPPING:
            loop.remove_signal_handler(number)
