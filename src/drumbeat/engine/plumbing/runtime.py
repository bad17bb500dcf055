"""The production runtime: the machine's clock, and threads for work that must not be starved."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time  # noqa: TID251 - this is the clock module
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from random import Random  # noqa: TID251 - this is where randomness comes from
from typing import Any

from drumbeat.forks import renew_in_children
from drumbeat.ports.clock import Alarm, Clock
from drumbeat.ports.runtime import Isolated

_TRUSTED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


COARSE = 0.001
"""Seconds by which the timers of an event loop may be late: selectors wait for milliseconds."""


class _PunctualAlarm:
    """A call right after an instant: a timer until shortly before it, then turns of the loop."""

    def __init__(self, seconds: float, callback: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._at = time.clock_gettime(_TRUSTED) + seconds
        self._callback = callback
        self._handle: asyncio.Handle = self._loop.call_later(max(0.0, seconds - COARSE), self._look)

    def cancel(self) -> None:
        self._handle.cancel()

    def _look(self) -> None:
        if time.clock_gettime(_TRUSTED) < self._at:
            self._handle = self._loop.call_soon(self._look)
        else:
            self._callback()


class SystemClock:
    """The machine's clocks. Elapsed time counts suspension where the system can."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the clock module

    def elapsed(self) -> float:
        """Seconds since the machine started."""
        return time.clock_gettime(_TRUSTED)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        return asyncio.get_running_loop().call_later(max(0.0, seconds), callback)

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        return _PunctualAlarm(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)  # noqa: TID251 - this is the clock module


class _IsolatedThread:
    """Work in a thread with an event loop of its own."""

    def __init__(self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]) -> None:
        self._outer_loop = asyncio.get_running_loop()
        self._inside = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._task = self._inside.create_task(work(self), name=name)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with contextlib.suppress(asyncio.CancelledError):
                self._inside.run_until_complete(self._task)
            self._inside.run_until_complete(self._inside.shutdown_asyncgens())
        finally:
            self._inside.close()
            self.call_home(self._ended.set)

    def call_home(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the outer loop has ended
            self._outer_loop.call_soon_threadsafe(callback)

    def call_inside(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the work has ended
            self._inside.call_soon_threadsafe(callback)

    async def ended(self) -> None:
        await self._ended.wait()

    def cancel(self) -> None:
        self.call_inside(self._cancel)

    def _cancel(self) -> None:
        self._task.cancel()


class SystemRuntime:
    """The runtime of a node in production."""

    def __init__(self) -> None:
        self.clock: Clock = SystemClock()
        self.random = Random()  # noqa: S311 - for jitter and identities, not for secrets
        renew_in_children(self._renew)

    def spawn_isolated(
        self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]
    ) -> Isolated:
        """Start the work in a thread of its own."""
        return _IsolatedThread(name, work)

    def _renew(self) -> None:
        self.random.seed()  # else all children would give their nodes the same identities
