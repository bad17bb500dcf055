"""Server: one MongoDB deployment for the event loops of all threads of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Lock

from drumbeat.backends.mongo.connection.address import Address, check_namespace
from drumbeat.backends.mongo.connection.cancellation import cancellable
from drumbeat.backends.mongo.connection.client import Client, Collections
from drumbeat.backends.mongo.connection.failures import FAILURES, refused, translated
from drumbeat.backends.mongo.connection.listener import Listener
from drumbeat.backends.mongo.connection.server_check import (
    ServerTraits,
    advice_on,
    check,
    check_collections,
    describe,
)
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import DrumbeatError
from drumbeat.ports.clock import Clock

ELSEWHERE_WITHIN = 5.0
"""Seconds that the loop of another thread has to close its connections; it may be blocked."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LoopConnections:
    """The connections of one event loop."""

    def __init__(self, address: Address, namespace: str) -> None:
        self.client = Client(address)
        self.collections = Collections(self.client.database, namespace)
        self.listeners: dict[str, Listener] = {}
        """By the short name of the collection."""
        self.checked = False
        """Whether the server was checked on this loop."""

    async def close(self) -> None:
        for listener in self.listeners.values():
            await listener.close()
        await self.client.close()


class Server:
    """Connects at the first call on each event loop, and again after it was closed."""

    def __init__(self, address: Address, clock: Clock, namespace: str) -> None:
        check_namespace(namespace)
        self.address = address
        self._clock = clock
        self._namespace = namespace
        self._lock = Lock()
        self._connections: dict[asyncio.AbstractEventLoop, LoopConnections] = {}
        self.traits: ServerTraits | None = None
        """What the server is; None: it was not opened yet."""
        renew_in_children(self._renew)

    @property
    def advice(self) -> str | None:
        """What speaks against this server, once it was opened."""
        return None if self.traits is None else advice_on(self.traits, self.address)

    async def open(
        self, names: Sequence[str], prepare: Callable[[Collections], Awaitable[None]]
    ) -> ServerTraits:
        """Connect, check the server and what is at these names, and prepare the collections.

        Does so once on each loop. What only settings can fix is a `ConfigurationError`.
        """
        connections = self._here()
        if self.traits is None or not connections.checked:
            try:
                with cancellable():
                    self.traits = await check(connections.client, self.address)
                    await check_collections(connections.collections, names, self.address)
                    await prepare(connections.collections)
            except FAILURES as error:
                if isinstance(error, DrumbeatError):
                    raise
                raise refused(self.address, error) from error
            connections.checked = True
        return self.traits

    def check_again(self) -> None:
        """Let the next `open` on each loop check and prepare the collections again."""
        for connections in tuple(self._connections.values()):
            connections.checked = False

    async def milliseconds(self) -> int:
        """The primary's clock, since 1970."""
        with self.calls():
            hello = await describe(self._here().client)
        now: datetime = hello["localTime"]  # commands are decoded without a zone
        return (now.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)

    @contextmanager
    def calls(self) -> Generator[Collections]:
        """The collections; `Unavailable` if it is not known whether a call was made."""
        with translated(self.address):
            yield self._here().collections

    def subscribe(
        self, collection: str, subject: str, wake: Callable[[], None]
    ) -> Callable[[], None]:
        """Call back when the document with the `_id` may have changed, until the returned call."""
        listeners, collections = self._here().listeners, self._here().collections
        if collection not in listeners:
            listeners[collection] = Listener(collections[collection], self._clock)
        streams = self.traits is not None and self.traits.change_streams
        return listeners[collection].subscribe(subject, wake, streams=streams)

    async def close(self) -> None:
        with self._lock:
            connections, self._connections = self._connections, {}
        here = asyncio.get_running_loop()
        for loop, each in connections.items():
            if loop is here:
                await each.close()
            elif loop.is_running():
                there = asyncio.run_coroutine_threadsafe(each.close(), loop)
                await asyncio.wait([asyncio.wrap_future(there)], timeout=ELSEWHERE_WITHIN)

    def _here(self) -> LoopConnections:
        loop = asyncio.get_running_loop()
        connections = self._connections.get(loop)
        if connections is None:
            connections = LoopConnections(self.address, self._namespace)
            with self._lock:
                self._connections[loop] = connections
        return connections

    def _renew(self) -> None:
        leave_to_parent(self._connections)
        self._lock, self._connections = Lock(), {}
