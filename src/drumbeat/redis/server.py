"""Server: one Redis, as the loops of all threads of this process use it."""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Any

from drumbeat.model.errors import DrumbeatError
from drumbeat.ports.clock import Clock
from drumbeat.redis.address import Address
from drumbeat.redis.checking import check
from drumbeat.redis.client import Client
from drumbeat.redis.connection import Connection
from drumbeat.redis.failures import FAILURES, refused, unavailable
from drumbeat.redis.listener import Listener
from drumbeat.redis.scripts import Script


class Desk:
    """What one event loop has of a server."""

    def __init__(self, address: Address, channel: str, clock: Clock) -> None:
        self.client = Client(address)
        self.listener = Listener(lambda: Connection(address), channel, clock)

    async def close(self) -> None:
        """Close every connection. On the loop that it was made on."""
        await self.listener.close()
        await self.client.close()


class Server:
    """Connects at the first call of each loop, and again after it was closed."""

    def __init__(self, address: Address, channel: str, clock: Clock) -> None:
        self.address = address
        self.channel = channel
        self._clock = clock
        self._lock = Lock()
        self._desks: dict[asyncio.AbstractEventLoop, Desk] = {}

    @property
    def listener(self) -> Listener:
        """The listener of the running loop."""
        return self._desk().listener

    async def open(self) -> None:
        """Connect now and look the server over, so that whatever is wrong is said now."""
        client = self._desk().client
        if client.checked:
            return
        try:
            await check(client, self.address)
        except FAILURES as error:
            if isinstance(error, DrumbeatError):
                raise
            raise refused(self.address, error) from error
        client.checked = True

    async def run(self, script: Script, keys: tuple[str, ...], *values: str | bytes | int) -> Any:
        """Run a script; `Unavailable` if it is not known whether it ran."""
        try:
            return await self._desk().client.run(script, keys, values)
        except FAILURES as error:
            raise unavailable(self.address, error) from error

    async def close(self) -> None:
        """Let go of everything, on each loop that still runs."""
        with self._lock:
            desks, self._desks = self._desks, {}
        here = asyncio.get_running_loop()
        for loop, desk in desks.items():
            if loop is here:
                await desk.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(desk.close(), loop))

    def _desk(self) -> Desk:
        loop = asyncio.get_running_loop()
        desk = self._desks.get(loop)
        if desk is None:
            with self._lock:
                desk = self._desks[loop] = Desk(self.address, self.channel, self._clock)
        return desk
