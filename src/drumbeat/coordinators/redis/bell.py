"""Bell: lets a caller wait until there is something new on the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from drumbeat.ports.clock import Clock
from drumbeat.redis.server import Server

Found = TypeVar("Found")

LOOK_AGAIN = 5.0
"""Seconds after which a waiter looks without a hint, since hints may get lost."""


class Bell:
    """Rung by what the scripts publish. Whoever waits looks again each time."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock

    async def wait_for(
        self,
        subject: str,
        look: Callable[[], Awaitable[Found | None]],
        again_in: Callable[[], float | None],
    ) -> Found:
        """Look, at every ring and when the time of what was seen is over, until there is news.

        The waiter listens before it looks, and is rung when the channel is first heard, so a change
        between its look and its sleep wakes it.
        """
        rung = asyncio.Event()
        stop = self._server.listener.subscribe(subject, rung.set)
        try:
            while (found := await look()) is None:
                await self._sleep(rung, again_in())
                rung.clear()
            return found
        finally:
            stop()

    async def _sleep(self, rung: asyncio.Event, seconds: float | None) -> None:
        wait = LOOK_AGAIN if seconds is None else min(seconds, LOOK_AGAIN)
        alarm = self._clock.call_later(wait, rung.set)
        try:
            await rung.wait()
        finally:
            alarm.cancel()
