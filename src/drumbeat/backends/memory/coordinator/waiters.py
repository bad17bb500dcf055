"""Waiters: wakes those who wait, each on its own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from drumbeat.backends.event_loops import call_on
from drumbeat.ports.clock import Clock

Found = TypeVar("Found")


class Waiters:
    """Woken after every change; each looks again, and so misses nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._waiters: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def wake_all(self) -> None:
        """Wake everyone who waits, from any thread."""
        with self._lock:
            waiters = list(self._waiters.items())
        for woken, loop in waiters:
            call_on(loop, woken.set)

    async def wait_for(
        self, look: Callable[[], Found | None], again_in: Callable[[], float | None]
    ) -> Found:
        """Call `look` at every wake-up and after `again_in` seconds, until it finds something.

        The waiter is known before it looks, so a change between its look and its sleep wakes it.
        """
        woken = asyncio.Event()
        with self._lock:
            self._waiters[woken] = asyncio.get_running_loop()
        try:
            while (found := look()) is None:
                await self._sleep(woken, again_in())
                woken.clear()
            return found
        finally:
            with self._lock:
                del self._waiters[woken]

    async def _sleep(self, woken: asyncio.Event, seconds: float | None) -> None:
        alarm = None if seconds is None else self._clock.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            if alarm is not None:
                alarm.cancel()
