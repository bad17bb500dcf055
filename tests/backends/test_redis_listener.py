"""The listener of a channel keeps a connection that answers, and replaces one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

from drumbeat.backends.redis.connection.client import Client
from drumbeat.backends.redis.connection.listener import SILENCE, Listener
from drumbeat.testing.clock import FakeClock


class Channel:
    """A channel of a server that answers pings as long as it is told to."""

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers
        self._messages: asyncio.Queue[Mapping[str, object]] = asyncio.Queue()
        self.pings = 0

    async def subscribe(self, channel: str) -> None:
        self._messages.put_nowait({"type": "subscribe", "channel": channel})

    async def get_message(self, *, timeout: float | None) -> Mapping[str, object] | None:
        assert timeout is None
        return await self._messages.get()

    async def ping(self) -> object:
        self.pings += 1
        if self._answers:
            self._messages.put_nowait({"type": "pong"})
        return None

    async def aclose(self) -> None:
        pass


class Server:
    """Gives each new connection a channel, and keeps all of them."""

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers
        self.channels: list[Channel] = []

    def connect(self) -> Client:
        return cast("Client", self)

    @property
    def pool(self) -> Server:
        return self

    def pubsub(self, *, push_handler_func: object) -> Channel:
        assert push_handler_func
        self.channels.append(Channel(answers=self._answers))
        return self.channels[-1]

    async def close(self) -> None:
        pass


async def listen(server: Server, clock: FakeClock, seconds: float) -> int:
    """How often a subscriber was woken in so many seconds."""
    woken = 0

    def wake() -> None:
        nonlocal woken
        woken += 1

    listener = Listener(server.connect, "news", clock)
    listener.subscribe("subject", wake)
    await clock.advance(seconds)
    await listener.close()
    return woken


async def test_a_channel_that_is_answered_stays() -> None:
    server = Server(answers=True)
    assert await listen(server, FakeClock(), 10 * SILENCE) == 1
    (only,) = server.channels
    assert only.pings == 10


async def test_a_channel_that_is_not_answered_is_replaced_and_all_who_wait_look_again() -> None:
    server = Server(answers=False)
    assert await listen(server, FakeClock(), 2 * SILENCE + 1) == 2
    first, second = server.channels
    assert (first.pings, second.pings) == (1, 0)
