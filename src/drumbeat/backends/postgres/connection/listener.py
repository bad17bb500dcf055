"""The listener: one connection of an event loop that receives notifications.

Notifications are hints. Those that are sent while nobody listens are lost. So a subscriber is woken
once when listening on its channel has begun, and all are woken once after a lost connection was
replaced. Behind a pooler nobody can listen: all are woken every quarter of a second, and less and
less often while the server is unreachable, because each of them then queries the server.
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
from drumbeat.ports.clock import Clock

log = logging.getLogger("drumbeat.backends.postgres.connection")

POLL: Final = 0.25
"""Seconds between two wake-ups behind a pooler."""
CHECK: Final = 10.0
"""Seconds after which a silent connection is checked."""
ANSWER: Final = 5.0
"""Seconds that the server has to answer a check."""
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0


class _Subscriber:
    """Compared by identity, so the same callable may subscribe twice."""

    __slots__ = ("channel", "wake")

    def __init__(self, channel: str, wake: Callable[[], None]) -> None:
        self.channel = channel
        self.wake = wake


class Listener:
    """The subscriptions of one event loop. The first of them opens the connection.

    `is_away` says whether the server was unreachable at the last call.
    """

    def __init__(self, connector: Connector, clock: Clock, is_away: Callable[[], bool]) -> None:
        self._connector = connector
        self._clock = clock
        self._is_away = is_away
        self._subscribers: list[_Subscriber] = []
        self._channels: set[str] = set()
        """The channels that the connection listens on."""
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._reported = ""
        """The error of the last warning."""

    def subscribe(self, channel: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` at each notification, until the returned function is called."""
        subscriber = _Subscriber(channel, wake)
        self._subscribers.append(subscriber)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._run(), name="drumbeat-postgres-listener"
            )
        elif channel not in self._channels:
            self._changed.set()

        def stop() -> None:
            with suppress(ValueError):
                self._subscribers.remove(subscriber)

        return stop

    async def close(self) -> None:
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
                await self._use(connection)
            except Exception as error:  # noqa: BLE001 - after any error it is tried again
                self._report(error)
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _report(self, error: Exception) -> None:
        """Warn once for each error. An outage is reported by those who query the server."""
        reason = str(error)
        if reason == self._reported or is_outage(error):
            log.debug("cannot listen for hints; retrying: %s", reason)
        else:
            self._reported = reason
            log.warning("cannot listen for hints; retrying: %s", reason)

    async def _use(self, connection: Connection) -> None:
        try:
            await self._listen(connection)
        except Exception as error:
            meant = translated(error, self._connector.address, connection)
            if meant is None:
                raise
            raise meant from error
        finally:
            self._channels.clear()
            connection.terminate()
        raise unavailable(self._connector.address, "the connection that listens was lost")

    async def _listen(self, connection: Connection) -> None:
        """Return when the connection is lost."""
        if self._connector.pooled:
            connection.terminate()
            await self._poll()
        connection.add_termination_listener(self._lost)
        while not connection.is_closed():
            self._changed.clear()
            for channel in {each.channel for each in self._subscribers} - self._channels:
                await connection.add_listener(channel, self._notified)
                self._channels.add(channel)
                self._reported = ""
                self._wake(channel)
            if not await self._changes_within(CHECK):
                await connection.fetchval("SELECT 1", timeout=ANSWER)

    async def _poll(self) -> None:
        pause = POLL
        while True:
            for subscriber in tuple(self._subscribers):
                subscriber.wake()
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE) if self._is_away() else POLL

    def _notified(self, _connection: object, _process: int, channel: str, _payload: str) -> None:
        self._wake(channel)

    def _lost(self, _connection: object) -> None:
        self._changed.set()

    def _wake(self, channel: str) -> None:
        for subscriber in tuple(self._subscribers):
            if subscriber.channel == channel:
                subscriber.wake()

    async def _changes_within(self, seconds: float) -> bool:
        """Wait for a new channel or the end of the connection. False: the time is over."""
        over = False

        def end() -> None:
            nonlocal over
            over = True
            self._changed.set()

        alarm = self._clock.call_later(seconds, end)
        try:
            await self._changed.wait()
        finally:
            alarm.cancel()
        return not over
