"""Listener: hears what is published on a channel, for all who wait on one event loop."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

from drumbeat.ports.clock import Clock
from drumbeat.redis.connection import Connection
from drumbeat.redis.failures import FAILURES
from drumbeat.redis.library import Channel

SILENCE = 10.0
"""Seconds without a word after which the server is asked whether it is still there."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
"""Seconds before a lost connection is replaced: soon at first, then less often."""


class Listener:
    """One connection and one task, from the first who waits until it is closed.

    Those who wait are woken by each message about their subject; and all of them whenever the
    channel is heard again, since nobody knows what was said in between.
    """

    def __init__(self, connect: Callable[[], Connection], channel: str, clock: Clock) -> None:
        self._connect = connect
        self._channel = channel
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._wakers: defaultdict[bytes, list[Callable[[], None]]] = defaultdict(list)
        self._pause = FIRST_PAUSE
        self._silent = True

    def subscribe(self, subject: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Call back at each message about the subject, until the returned function is called."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="drumbeat-redis-listener")
        key = subject.encode()
        self._wakers[key].append(wake)

        def stop() -> None:
            self._wakers[key].remove(wake)
            if not self._wakers[key]:
                del self._wakers[key]

        return stop

    async def close(self) -> None:
        """Stop to listen."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _listen(self) -> None:
        while True:
            connection = self._connect()
            try:
                await self._hear(connection)
            finally:
                with suppress(*FAILURES):
                    await connection.close()
            await self._clock.sleep(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def _hear(self, connection: Connection) -> None:
        """Return when the connection is lost: hints only, whoever waits looks again anyway."""
        self._silent = True
        channel = connection.pool.pubsub(push_handler_func=_as_it_is)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read(channel))
                group.create_task(self._ask(channel))
        except* FAILURES:
            pass
        finally:
            with suppress(*FAILURES):
                await channel.aclose()

    async def _read(self, channel: Channel) -> None:
        await channel.subscribe(self._channel)
        while True:
            message = await channel.get_message(timeout=None)
            self._silent = False
            match message:
                case {"type": "subscribe"}:
                    self._pause = FIRST_PAUSE
                    self._wake_all()
                case {"type": "message", "data": bytes() as subject}:
                    for wake in tuple(self._wakers.get(subject, ())):
                        wake()
                case _:
                    pass

    async def _ask(self, channel: Channel) -> None:
        while True:
            await self._clock.sleep(SILENCE)
            if self._silent:
                raise ConnectionError("the channel has fallen silent")
            self._silent = True
            await channel.ping()

    def _wake_all(self) -> None:
        for wakers in tuple(self._wakers.values()):
            for wake in tuple(wakers):
                wake()


async def _as_it_is(message: object) -> object:
    """The library would log each message otherwise."""
    return message
