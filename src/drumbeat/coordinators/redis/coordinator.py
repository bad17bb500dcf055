"""The coordinator: the parts of the Redis coordinator, on one server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.redis.configuration import RedisConfiguration
from drumbeat.coordinators.redis.keys import Keys
from drumbeat.coordinators.redis.leases import RedisLeases
from drumbeat.coordinators.redis.registry import RedisRegistry
from drumbeat.ports.clock import Clock
from drumbeat.redis.address import parse
from drumbeat.redis.server import Server

LOOK_AGAIN = timedelta(seconds=5)
"""How long a waiter sleeps without a hint, since hints may get lost."""


class RedisCoordinator:
    """Appoints among all processes that share a namespace of one Redis or Valkey server."""

    def __init__(self, address: str, clock: Clock, namespace: str = "drumbeat") -> None:
        keys = Keys(namespace)
        self._server = Server(parse(address), keys.channel, clock)
        bell = Bell(self._subscribe, clock, LOOK_AGAIN)
        self.leases = RedisLeases(self._server, keys, bell)
        self.registry = RedisRegistry(self._server, keys, bell)
        self.configuration = RedisConfiguration(self._server, keys, bell)

    async def open(self) -> None:
        """Connect, and refuse a server that cannot be trusted to keep what it is given."""
        await self._server.open()

    async def close(self) -> None:
        """Let go of the server; leases run out by themselves."""
        await self._server.close()

    def _subscribe(self, subject: str, wake: Callable[[], None]) -> Callable[[], None]:
        return self._server.listener.subscribe(subject, wake)  # of the loop that runs here now
