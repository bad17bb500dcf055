"""MongoCoordinator: leases, registry and configuration in one collection."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from drumbeat.backends.hint_waiter import HintWaiter
from drumbeat.backends.mongo.connection.address import parse
from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.connection.server_check import foreign
from drumbeat.backends.mongo.coordinator.configuration import MongoConfiguration
from drumbeat.backends.mongo.coordinator.documents import NAME, create_index, foreign_document
from drumbeat.backends.mongo.coordinator.domain import ensure_domain
from drumbeat.backends.mongo.coordinator.leases import MongoLeases
from drumbeat.backends.mongo.coordinator.registry import MongoRegistry
from drumbeat.backends.settling import Settling
from drumbeat.ports.clock import Clock

LOOK_AGAIN = timedelta(seconds=5)
"""How long a waiter sleeps without a hint, since hints may be lost."""
MARGIN = timedelta(milliseconds=2)


class MongoCoordinator:
    """Coordinates all nodes that share a namespace of one database."""

    def __init__(self, address: str, clock: Clock, namespace: str = "drumbeat") -> None:
        self._server = Server(parse(address), clock, namespace)
        waiter = HintWaiter(self._subscribe, clock, LOOK_AGAIN, MARGIN)
        self._settling = Settling(clock)
        self.leases = MongoLeases(self._server, waiter, self._settling)
        self.registry = MongoRegistry(self._server, waiter)
        self.configuration = MongoConfiguration(self._server, waiter)

    @property
    def advice(self) -> str | None:
        """See `ports.advice`."""
        return self._server.advice

    async def open(self) -> None:
        """Connect, and reject a server that cannot be used, or a foreign collection."""
        await self._server.open([NAME], self._prepare)

    async def close(self) -> None:
        await self._server.close()

    async def _prepare(self, collections: Collections) -> None:
        """The first write comes after the check, so a foreign collection stays as it is."""
        collection = collections[NAME]
        if await foreign_document(collection) is not None:
            name, address = collections.full_name(NAME), self._server.address
            raise foreign(name, address, "holds documents that are not Drumbeat's")
        self._settling.see(await ensure_domain(collection))
        await create_index(collection)

    def _subscribe(self, subject: str, wake: Callable[[], None]) -> Callable[[], None]:
        return self._server.subscribe(NAME, subject, wake)
