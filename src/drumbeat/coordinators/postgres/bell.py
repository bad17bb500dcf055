"""Bell: lets a caller wait until there is something new in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar

from drumbeat.ports.clock import Clock
from drumbeat.postgres.database import Database

Found = TypeVar("Found")

NO_TIME = timedelta(0)
MARGIN = timedelta(milliseconds=1)
"""What is over on the server's clock is over a little later on ours."""


class News(StrEnum):
    """The channels of the coordinator."""

    LEASES = "leases"
    REGISTRY = "registry"
    CONFIGURATION = "configuration"


class Bell:
    """Rung by commits of any node. Whoever waits looks again each time, and misses nothing."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def wait_for(
        self,
        news: News,
        look: Callable[[], Awaitable[Found | None]],
        again_in: Callable[[], timedelta | None],
    ) -> Found:
        """Look, at every ring and when the time of what was seen is over, until there is news.

        The waiter listens before it looks, so a change between its look and its sleep wakes it.
        """
        rung = asyncio.Event()
        stop = self._database.subscribe(news, rung.set)
        try:
            while (found := await look()) is None:
                await self._sleep(rung, again_in())
                rung.clear()
            return found
        finally:
            stop()

    async def _sleep(self, rung: asyncio.Event, wait: timedelta | None) -> None:
        if wait is None:
            await rung.wait()
        elif wait > NO_TIME:
            alarm = self._clock.call_later((wait + MARGIN).total_seconds(), rung.set)
            try:
                await rung.wait()
            finally:
                alarm.cancel()
