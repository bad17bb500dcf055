"""Remote: proxies of the store and the coordinator that turn each call into a network request."""

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

Part = TypeVar("Part")


class Line:
    """The way from one process to one server."""

    def __init__(self, network: Network, sender: Sender, server: Server) -> None:
        self.network = network
        self.sender = sender
        self.server = server

    def to(self, part: Part, prefix: str = "") -> Part:
        """A part of the server, each of whose calls is a request."""
        return cast("Part", _Far(self, part, prefix))

    async def ask(self, name: str, method: Callable[..., Any], *arguments: Any) -> Any:
        """One request."""
        return await self.network.ask(self.sender, Call(self.server, name, method, arguments, {}))


class _Far:
    """Stands for a part of a server."""

    def __init__(self, line: Line, part: object, prefix: str) -> None:
        self._line = line
        self._part = part
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        member = self._asking(self._prefix + name, method)
        if inspect.iscoroutinefunction(method):
            setattr(self, name, member)  # found there from now on
            return member

        def stream(*arguments: Any) -> _Stream:
            return _Stream(self._line, method(*arguments))

        return stream

    def _asking(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        line = self._line

        async def ask(*arguments: Any, **keywords: Any) -> Any:
            # A list is the sender's own, and may change before the message arrives.
            sent = tuple(_sent(each) for each in arguments)
            return await line.network.ask(
                line.sender, Call(line.server, name, method, sent, keywords)
            )

        return ask


def _sent(argument: object) -> object:
    return tuple(cast("list[object]", argument)) if type(argument) is list else argument


class _Stream:
    """What a server tells of its own accord. A message that is lost breaks the stream."""

    def __init__(self, line: Line, items: AsyncIterator[Any]) -> None:
        self._line = line
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
                self._send_all(here), context=self._line.server.lane.context.copy()
            )
        while not self._arrived:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        item = self._arrived.popleft()
        if isinstance(item, Unavailable):
            raise item
        return item

    async def _send_all(self, here: Any) -> None:
        line = self._line
        async for item in self._items:
            if line.sender.lane.dead:
                return
            passed = line.network.send(
                line.server.name, line.sender.machine, partial(self._arrive, item), here
            )
            if not passed:  # the client finds out when its connection does
                lost = Unavailable(f"{line.server.name}: the stream broke")
                asyncio.get_running_loop().call_later(2.0, self._arrive, lost, context=here)
                return

    def _arrive(self, item: Any) -> None:
        self._arrived.append(item)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class RemoteStore:
    """The store, as a process reaches it."""

    always_hints = False
    writers = 2
    joining = None

    def __init__(self, line: Line, store: Store) -> None:
        self._line = line
        self._store = store
        self._wakes: list[Callable[[], None]] = []
        self.nodes = line.to(store.nodes)
        self.jobs = line.to(store.jobs)
        self.fence = line.to(store.fence)
        self.schedules = line.to(store.schedules)
        self.retention = line.to(store.retention)
        self.queues = line.to(store.queues)
        self.audit = line.to(store.audit)
        self.tokens = line.to(store.tokens)

    async def open(self) -> None:
        """A first exchange."""
        await self._line.ask("open", self._store.open)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def now(self) -> datetime:
        """The store's own clock."""
        now: datetime = await self._line.ask("now", self._store.now)
        return now

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Hints are messages too, and may be lost."""
        line = self._line
        here = LANE.get().context

        def hint() -> None:
            if not line.sender.lane.dead:
                line.network.send(line.server.name, line.sender.machine, wake, here)

        unsubscribe = self._store.subscribe(topic, hint)
        self._wakes.append(unsubscribe)
        return unsubscribe

    def forget(self) -> None:
        """The process is dead: hint no more."""
        for unsubscribe in self._wakes:
            unsubscribe()


class RemoteCoordinator:
    """The coordinator, as a process reaches it."""

    def __init__(self, line: Line, coordinator: Coordinator) -> None:
        self._line = line
        self._coordinator = coordinator
        self.leases = line.to(coordinator.leases)
        self.registry = line.to(coordinator.registry)
        self.configuration = line.to(coordinator.configuration, "configuration.")

    async def open(self) -> None:
        """A first exchange."""
        await self._line.ask("open", self._coordinator.open)

    async def close(self) -> None:
        """Nothing to let go of."""
