"""The runtime of a simulated process: its clock, its randomness, and lanes instead of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from drumbeat.ports.clock import Clock
from drumbeat.ports.runtime import Isolated
from simulation.clock import ProcessClock
from simulation.loop import Lane, VirtualLoop
from simulation.randomness import Random


class _IsolatedLane:
    """Runs work in a separate lane; in production it has a separate thread."""

    def __init__(
        self,
        home: Lane,
        inside: Lane,
        loop: VirtualLoop,
        work: Callable[[Isolated], Coroutine[Any, Any, None]],
    ) -> None:
        self._home = home
        self._inside = inside
        self._loop = loop
        self._task = loop.start(inside, work(self), inside.name)

    def call_home(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback, context=self._home.context.copy())

    def call_inside(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback, context=self._inside.context.copy())

    async def ended(self) -> None:
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    def cancel(self) -> None:
        self._task.cancel()


class ProcessRuntime:
    """The runtime of one simulated process."""

    def __init__(self, loop: VirtualLoop, lane: Lane, clock: ProcessClock, random: Random) -> None:
        self._loop = loop
        self._lane = lane
        self._clock = clock
        self._random = random
        self.isolated: list[Lane] = []
        """The lanes of its threads."""

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def random(self) -> Random:
        return self._random

    def spawn_isolated(
        self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]
    ) -> Isolated:
        """Start work that continues while the main lane is paused."""
        return _IsolatedLane(self._lane, self.new_lane(name), self._loop, work)

    def new_lane(self, name: str) -> Lane:
        """The lane of a new thread of this process, which is paused and killed with it."""
        lane = Lane(f"{self._lane.name}/{name}", self._lane.owner)
        self.isolated.append(lane)
        return lane
