"""Listener: receives the messages of a channel for all waiters of one event loop."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

from drumbeat.backends.redis.connection.client import Client
from drumbeat.backends.redis.connection.failures import FAILURES
from drumbeat.backends.redis.connection.library import Channel
from drumbeat.ports.clock import Clock

SILENCE = 10.0
"""Seconds without a message after which the server is pinged."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
"""Seconds before a lost connection is replaced: soon at first, then less often."""


class Listener:
    """One connection and one task, from the first subscription until it is closed.

    A waiter is woken by each message about its subject. All are woken when the connection was
    replaced, since messages may have been lost.
    """

    def __init__(self, connect: Callable[[], Client], channel: str, clock: Clock) -> None:
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
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _listen(self) -> None:
        while True:
            client = self._connect()
            try:
                await self._receive(client)
            finally:
                with suppress(*FAILURES):
                    await client.close()
            await self._clock.sleep(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def _receive(self, client: Client) -> None:
        """Return when the connection is lost. Waiters look again anyway, so nothing is lost."""
        self._silent = True
        channel = client.pool.pubsub(push_handler_func=_unchanged)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read(channel))
                group.create_task(self._ping(channel))
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

    async def _ping(self, channel: Channel) -> None:
        while True:
            await self._clock.sleep(SILENCE)
            if self._silent:
                raise ConnectionError("no message from the server")
            self._silent = True
            await channel.ping()

    def _wake_all(self) -> None:
        for wakers in tuple(self._wakers.values()):
            for wake in tuple(wakers):
                wake()


async def _unchanged(message: object) -> object:
    """Without a handler the library would log each message."""
    return message
