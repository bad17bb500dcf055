"""Bell: wakes those who wait, each on its own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TypeVar

from drumbeat.ports.clock import Clock

News = TypeVar("News")


class Bell:
    """Rung after every change; a waiter looks again each time, and so misses nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._waiters: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def ring(self) -> None:
        """Wake everyone who waits, from any thread."""
        with self._lock:
            waiters = list(self._waiters.items())
        for rung, loop in waiters:
            wake(rung, loop)

    async def wait_for(
        self, look: Callable[[], News | None], again_in: Callable[[], float | None]
    ) -> News:
        """Look, at every ring and after as many seconds as `again_in` says, until there is news.

        The waiter is known before it looks, so a change between its look and its sleep wakes it.
        """
        rung = asyncio.Event()
        with self._lock:
            self._waiters[rung] = asyncio.get_running_loop()
        try:
            while (news := look()) is None:
                await self._sleep(rung, again_in())
                rung.clear()
            return news
        finally:
            with self._lock:
                del self._waiters[rung]

    async def _sleep(self, rung: asyncio.Event, seconds: float | None) -> None:
        alarm = None if seconds is None else self._clock.call_later(seconds, rung.set)
        try:
            await rung.wait()
        finally:
            if alarm is not None:
                alarm.cancel()


def wake(event: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
    """Set an event on the loop it belongs to: at once if that one runs here."""
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if loop is here:
        event.set()
    else:
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits there
            loop.call_soon_threadsafe(event.set)
