"""Bell: lets a caller wait until there is something new, wherever the news comes from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

from drumbeat.ports.clock import Clock

Found = TypeVar("Found")
Subject = TypeVar("Subject")

NO_TIME = timedelta(0)


class Bell(Generic[Subject]):
    """Rung by changes that anyone makes. Whoever waits looks again each time, and misses nothing.

    Where rings may get lost, `longest` is how long a waiter sleeps at most before it looks without.
    Where another clock says when something is over, `margin` is how much later it is so on ours.
    """

    def __init__(
        self,
        subscribe: Callable[[Subject, Callable[[], None]], Callable[[], None]],
        clock: Clock,
        longest: timedelta | None = None,
        margin: timedelta = NO_TIME,
    ) -> None:
        self._subscribe = subscribe
        self._clock = clock
        self._longest = longest
        self._margin = margin

    async def wait_for(
        self,
        subject: Subject,
        look: Callable[[], Awaitable[Found | None]],
        again_in: Callable[[], timedelta | None],
    ) -> Found:
        """Look, at every ring and when the time of what was seen is over, until there is news.

        The waiter listens before it looks, so a change between its look and its sleep wakes it.
        """
        rung = asyncio.Event()
        stop = self._subscribe(subject, rung.set)
        try:
            while (found := await look()) is None:
                await self._sleep(rung, again_in())
                rung.clear()
            return found
        finally:
            stop()

    async def _sleep(self, rung: asyncio.Event, wait: timedelta | None) -> None:
        if self._longest is not None:
            wait = self._longest if wait is None else min(wait, self._longest)
        if wait is None:
            await rung.wait()
        elif wait > NO_TIME:
            alarm = self._clock.call_later((wait + self._margin).total_seconds(), rung.set)
            try:
                await rung.wait()
            finally:
                alarm.cancel()
