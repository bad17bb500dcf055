"""The fake runtime: a fake clock, repeatable chance, and everything on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random  # noqa: TID251 - seeded by the test
from typing import Any

from drumbeat.ports.clock import Clock
from drumbeat.ports.runtime import Isolated
from drumbeat.testing.clock import FakeClock


class _IsolatedTask:
    """Work that is isolated in name only: a task of the same loop, in a repeatable order."""

    def __init__(self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(work(self), name=name)

    def call_home(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback)

    def call_inside(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback)

    async def ended(self) -> None:
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()  # an error of the work is an error of the test

    def cancel(self) -> None:
        self._task.cancel()


class FakeRuntime:
    """What a node in a test runs on: `Drumbeat("memory://", runtime=FakeRuntime(clock))`.

    Two runs with the same seed draw the same numbers, for jitter and pauses.
    """

    def __init__(self, clock: Clock | None = None, seed: int = 0) -> None:
        self._clock = clock or FakeClock()
        self._random = Random(seed)  # noqa: S311 - chance that can be repeated is the point
        self._isolated: list[Isolated] = []

    @property
    def clock(self) -> Clock:
        """The clock that it was given."""
        return self._clock

    @property
    def random(self) -> Random:
        """Seeded."""
        return self._random

    def spawn_isolated(
        self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]
    ) -> Isolated:
        """Start the work as a task of the running loop."""
        isolated = _IsolatedTask(name, work)
        self._isolated.append(isolated)
        return isolated

    async def kill(self) -> None:
        """Cancel all isolated work, as the end of the process would, and wait for its end."""
        isolated, self._isolated = self._isolated, []
        for work in isolated:
            work.cancel()
        for work in isolated:
            await work.ended()
