"""The listener: one connection of an event loop that hears what was notified.

Notifications are hints. Those that were sent while nobody listened are lost, so whoever subscribes
is woken once as soon as its channel is heard, and everyone is woken once after a connection was
lost and another was made. Behind a pooler nobody can listen: everyone is woken every quarter of a
second, and less and less often while the server is out of reach: whoever is woken asks it at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from drumbeat.backends.postgres.connection.client import Connection
from drumbeat.backends.postgres.connection.connector import Connector
from drumbeat.backends.postgres.connection.failures import is_outage, translated, unavailable
from drumbeat.ports.clock import Alarm, Clock

log = logging.getLogger("drumbeat.backends.postgres.connection")

BEAT: Final = 0.25
"""Seconds between two looks behind a pooler."""
CHECK: Final = 10.0
"""Seconds after which a silent connection is asked whether it is still there."""
ANSWER: Final = 5.0
"""Seconds that it gets to answer."""
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0


class _Subscriber:
    """One of them: compared by identity, so the same call may subscribe twice."""

    __slots__ = ("channel", "wake")

    def __init__(self, channel: str, wake: Callable[[], None]) -> None:
        self.channel = channel
        self.wake = wake


class Listener:
    """The subscriptions of one event loop. The connection is made for the first of them.

    `is_away` says whether the server was out of reach when it was last asked something.
    """

    def __init__(self, connector: Connector, clock: Clock, is_away: Callable[[], bool]) -> None:
        self._connector = connector
        self._clock = clock
        self._is_away = is_away
        self._subscribers: list[_Subscriber] = []
        self._heard: set[str] = set()
        self._stir = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._warned = ""
        """The error that was warned of last."""

    def subscribe(self, channel: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Wake from now on; the call that is returned ends it."""
        subscriber = _Subscriber(channel, wake)
        self._subscribers.append(subscriber)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._run(), name="drumbeat-postgres-listener"
            )
        elif channel not in self._heard:
            self._stir.set()

        def stop() -> None:
            with suppress(ValueError):
                self._subscribers.remove(subscriber)

        return stop

    async def close(self) -> None:
        """End the connection and forget everyone."""
        self._subscribers.clear()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                connection = await self._connector.connect()
                pause = FIRST_PAUSE
                await self._hear(connection)
            except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
                self._report(error)
            await self._rest(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _report(self, error: Exception) -> None:
        """Warn once for each error. If the server is away, those who ask it report that."""
        said = str(error)
        if said == self._warned or is_outage(error):
            log.debug("cannot listen for hints; retrying: %s", said)
        else:
            self._warned = said
            log.warning("cannot listen for hints; retrying: %s", said)

    async def _hear(self, connection: Connection) -> None:
        try:
            await self._listen(connection)
        except Exception as error:
            meant = translated(error, self._connector.address, connection)
            if meant is None:
                raise
            raise meant from error
        finally:
            self._heard.clear()
            connection.terminate()
        raise unavailable(self._connector.address, "the connection that listens was lost")

    async def _listen(self, connection: Connection) -> None:
        if self._connector.pooled:
            connection.terminate()
            await self._beat()
        connection.add_termination_listener(self._lost)
        while not connection.is_closed():
            self._stir.clear()
            for channel in {each.channel for each in self._subscribers} - self._heard:
                await connection.add_listener(channel, self._notified)
                self._heard.add(channel)
                self._warned = ""
                self._wake(channel)
            if not await self._stirred(CHECK):
                await connection.fetchval("SELECT 1", timeout=ANSWER)

    async def _beat(self) -> None:
        pause = BEAT
        while True:
            for subscriber in tuple(self._subscribers):
                subscriber.wake()
            await self._rest(pause)
            pause = min(2 * pause, LONGEST_PAUSE) if self._is_away() else BEAT

    def _notified(self, _connection: object, _process: int, channel: str, _payload: str) -> None:
        self._wake(channel)

    def _lost(self, _connection: object) -> None:
        self._stir.set()

    def _wake(self, channel: str) -> None:
        for subscriber in tuple(self._subscribers):
            if subscriber.channel == channel:
                subscriber.wake()

    async def _stirred(self, seconds: float) -> bool:
        """Whether something stirred before so many seconds were over."""
        over = False

        def end() -> None:
            nonlocal over
            over = True
            self._stir.set()

        alarm: Alarm = self._clock.call_later(seconds, end)
        try:
            await self._stir.wait()
        finally:
            alarm.cancel()
        return not over

    async def _rest(self, seconds: float) -> None:
        self._stir.clear()
        over = asyncio.Event()
        alarm = self._clock.call_later(seconds, over.set)
        try:
            await over.wait()
        finally:
            alarm.cancel()
