"""Proxies of the store and the coordinator that turn each call into a network request."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar, cast

from drumbeat.model.errors import Unavailable
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.store import Store, Topic
from simulation.loop import LANE
from simulation.network import Call, Network, Sender, Server
from simulation.remote_witnesses import RemoteWitnesses

Part = TypeVar("Part")


class Connection:
    """The connection of one process to one server."""

    def __init__(self, network: Network, sender: Sender, server: Server) -> None:
        self.network = network
        self.sender = sender
        self.server = server

    def to(self, part: Part, prefix: str = "") -> Part:
        """A proxy of a part of the server, whose calls become requests."""
        return cast("Part", _RemotePart(self, part, prefix))

    async def ask(self, name: str, method: Callable[..., Any], *arguments: Any) -> Any:
        return await self.network.ask(self.sender, Call(self.server, name, method, arguments, {}))


class _RemotePart:
    """The proxy of a part of a server."""

    def __init__(self, connection: Connection, part: object, prefix: str) -> None:
        self._connection = connection
        self._part = part
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        member = self._request(self._prefix + name, method)
        if inspect.iscoroutinefunction(method):
            setattr(self, name, member)  # later calls skip __getattr__
            return member

        def stream(*arguments: Any) -> _Stream:
            return _Stream(self._connection, method(*arguments))

        return stream

    def _request(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        connection = self._connection

        async def ask(*arguments: Any, **keywords: Any) -> Any:
            # The sender may change its list before the message arrives, so send a copy.
            sent = tuple(_copied(each) for each in arguments)
            return await connection.network.ask(
                connection.sender, Call(connection.server, name, method, sent, keywords)
            )

        return ask


def _copied(argument: object) -> object:
    return tuple(cast("list[object]", argument)) if type(argument) is list else argument


class _Stream:
    """A stream of messages from a server. A lost message breaks the stream."""

    def __init__(self, connection: Connection, items: AsyncIterator[Any]) -> None:
        self._connection = connection
        self._items = items
        self._arrived: deque[Any] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._pump: asyncio.Task[None] | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if self._pump is None:
            loop = asyncio.get_running_loop()
            here = LANE.get().context
            self._pump = loop.create_task(
                self._send_all(here), context=self._connection.server.lane.context.copy()
            )
        while not self._arrived:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        item = self._arrived.popleft()
        if isinstance(item, Unavailable):
            raise item
        return item

    async def _send_all(self, here: Any) -> None:
        connection = self._connection
        async for item in self._items:
            if connection.sender.lane.dead:
                return
            passed = connection.network.send(
                connection.server.name, connection.sender.machine, partial(self._arrive, item), here
            )
            if not passed:  # the client notices when its connection fails
                lost = Unavailable(f"{connection.server.name}: the stream broke")
                asyncio.get_running_loop().call_later(2.0, self._arrive, lost, context=here)
                return

    def _arrive(self, item: Any) -> None:
        self._arrived.append(item)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class RemoteStore:
    """The store as a process sees it, over the network."""

    always_hints = False
    writers = 2
    joining = None

    def __init__(self, connection: Connection, store: Store) -> None:
        self._connection = connection
        self._store = store
        self._wakes: list[Callable[[], None]] = []
        self.nodes = connection.to(store.nodes)
        self.jobs = connection.to(store.jobs)
        self.fence = connection.to(store.fence)
        self.schedules = connection.to(store.schedules)
        self.retention = connection.to(store.retention)
        self.queues = connection.to(store.queues)
        self.audit = connection.to(store.audit)
        self.tokens = connection.to(store.tokens)
        self.witnesses = None
        if store.witnesses is not None:
            ways = connection.network, connection.sender, connection.server
            self.witnesses = RemoteWitnesses(*ways, store.witnesses)

    async def open(self) -> None:
        await self._connection.ask("open", self._store.open)

    async def close(self) -> None:
        """Nothing to release."""

    async def now(self) -> datetime:
        now: datetime = await self._connection.ask("now", self._store.now)
        return now

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Subscribe to hints, which are messages and may be lost."""
        connection = self._connection
        here = LANE.get().context

        def hint() -> None:
            if not connection.sender.lane.dead:
                connection.network.send(
                    connection.server.name, connection.sender.machine, wake, here
                )

        unsubscribe = self._store.subscribe(topic, hint)
        self._wakes.append(unsubscribe)
        return unsubscribe

    def unsubscribe_all(self) -> None:
        """Send no more hints to a dead process."""
        for unsubscribe in self._wakes:
            unsubscribe()


class RemoteCoordinator:
    """The coordinator as a process sees it, over the network."""

    def __init__(self, connection: Connection, coordinator: Coordinator) -> None:
        self._connection = connection
        self._coordinator = coordinator
        self.leases = connection.to(coordinator.leases)
        self.registry = connection.to(coordinator.registry)
        self.configuration = connection.to(coordinator.configuration, "configuration.")

    async def open(self) -> None:
        await self._connection.ask("open", self._coordinator.open)

    async def close(self) -> None:
        """Nothing to release."""
