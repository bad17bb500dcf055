"""Server: one Redis server for the event loops of all threads of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any, TypeAlias

from drumbeat.backends.redis.connection.address import Address
from drumbeat.backends.redis.connection.client import Client
from drumbeat.backends.redis.connection.failures import FAILURES, refused, unavailable
from drumbeat.backends.redis.connection.listener import Listener
from drumbeat.backends.redis.connection.scripts import Script
from drumbeat.backends.redis.connection.server_check import check
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import DrumbeatError
from drumbeat.ports.clock import Clock

Check: TypeAlias = Callable[[Client, Address], Awaitable[None]]
"""Rejects a server that cannot do what it is for."""


class LoopConnections:
    """The connections of one event loop to a server."""

    def __init__(self, address: Address, channel: str, clock: Clock) -> None:
        self.client = Client(address)
        self.checked = False
        """Whether the server has passed `check`."""
        self.listener = Listener(lambda: Client(address), channel, clock)
        self.blocking = Client(address)
        """For calls that wait on the server, so that they occupy no connection of the others."""

    async def close(self) -> None:
        await self.listener.close()
        await self.blocking.close()
        await self.client.close()


class Server:
    """Connects at the first call on each event loop, and again after it was closed."""

    def __init__(self, address: Address, channel: str, clock: Clock, check: Check = check) -> None:
        self.address = address
        self.channel = channel
        self._clock = clock
        self._check = check
        self._lock = Lock()
        self._connections: dict[asyncio.AbstractEventLoop, LoopConnections] = {}
        renew_in_children(self._renew)

    @property
    def listener(self) -> Listener:
        return self._here().listener

    async def open(self) -> None:
        """Connect and check the server, so that configuration errors show at once."""
        connections = self._here()
        if connections.checked:
            return
        try:
            await self._check(connections.client, self.address)
        except FAILURES as error:
            if isinstance(error, DrumbeatError):
                raise
            raise refused(self.address, error) from error
        connections.checked = True

    async def run(self, script: Script, keys: tuple[str, ...], *values: str | bytes | int) -> Any:
        """Run a script; `Unavailable` if it is not known whether it ran."""
        try:
            return await self._here().client.run(script, keys, values)
        except FAILURES as error:
            raise unavailable(self.address, error) from error

    async def try_out(self, script: Script, keys: tuple[str, ...]) -> None:
        """Run a script; `ConfigurationError` if only another setting can make it work."""
        try:
            await self._here().client.run(script, keys, ())
        except FAILURES as error:
            raise refused(self.address, error) from error

    async def wait_for(self, seconds: float, *words: str | bytes | int) -> Any:
        """Run a command that blocks for so long at most."""
        try:
            return await self._here().blocking.wait_for(seconds, *words)
        except FAILURES as error:
            raise unavailable(self.address, error) from error

    async def close(self) -> None:
        with self._lock:
            connections, self._connections = self._connections, {}
        here = asyncio.get_running_loop()
        for loop, each in connections.items():
            if loop is here:
                await each.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(each.close(), loop))

    def _here(self) -> LoopConnections:
        loop = asyncio.get_running_loop()
        connections = self._connections.get(loop)
        if connections is None:
            connections = LoopConnections(self.address, self.channel, self._clock)
            with self._lock:
                self._connections[loop] = connections
        return connections

    def _renew(self) -> None:
        leave_to_parent(self._connections)
        self._lock, self._connections = Lock(), {}
