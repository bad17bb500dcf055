"""RedisCoordinator: leases, registry and configuration on one server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from drumbeat.backends.hint_waiter import HintWaiter
from drumbeat.backends.redis.connection.address import parse
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.coordinator.configuration import RedisConfiguration
from drumbeat.backends.redis.coordinator.keys import Keys
from drumbeat.backends.redis.coordinator.leases import RedisLeases
from drumbeat.backends.redis.coordinator.registry import RedisRegistry
from drumbeat.ports.clock import Clock

LOOK_AGAIN = timedelta(seconds=5)
"""How long a waiter sleeps without a hint, since hints may be lost."""


class RedisCoordinator:
    """Coordinates all nodes that share a namespace of one Redis or Valkey server."""

    def __init__(self, address: str, clock: Clock, namespace: str = "drumbeat") -> None:
        keys = Keys(namespace)
        self._server = Server(parse(address), keys.channel, clock)
        waiter = HintWaiter(self._subscribe, clock, LOOK_AGAIN)
        self.leases = RedisLeases(self._server, keys, waiter)
        self.registry = RedisRegistry(self._server, keys, waiter)
        self.configuration = RedisConfiguration(self._server, keys, waiter)

    async def open(self) -> None:
        """Connect, and reject a server that may lose or refuse writes."""
        await self._server.open()

    async def close(self) -> None:
        await self._server.close()

    def _subscribe(self, subject: str, wake: Callable[[], None]) -> Callable[[], None]:
        return self._server.listener.subscribe(subject, wake)  # of the loop that runs here now
