"""The database: one namespace, and the connections of this process to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Lock
from typing import Any

from drumbeat.backends.postgres.connection.address import check_namespace, parse_address
from drumbeat.backends.postgres.connection.client import Connection, Record
from drumbeat.backends.postgres.connection.connector import Connector, Limits
from drumbeat.backends.postgres.connection.hints import Hints
from drumbeat.backends.postgres.connection.listener import Listener
from drumbeat.backends.postgres.connection.pool import CLOSING, Pool
from drumbeat.backends.postgres.connection.session import Session
from drumbeat.backends.postgres.connection.statements import Names
from drumbeat.backends.postgres.schema.schema import Schema
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.ports.clock import Clock


class _LoopConnections:
    """The connections of one event loop."""

    def __init__(self, connector: Connector, limits: Limits, clock: Clock) -> None:
        self.pool = Pool(connector, limits, clock)
        self.listener = Listener(connector, clock, self.pool.is_away)
        self.hints: dict[str, Hints] = {}
        self.opening = asyncio.Lock()

    async def close(self) -> None:
        await self.listener.close()
        for hints in self.hints.values():
            await hints.close()
        await self.pool.close()


class Database:
    """A namespace of a database, opened at the first call, and again after it was closed.

    It can be used from the event loops of several threads: each has connections of its own.
    """

    def __init__(
        self, address: str, clock: Clock, namespace: str = "drumbeat", limits: Limits | None = None
    ) -> None:
        check_namespace(namespace)
        self.names = Names(namespace)
        """The names of the namespace in the database, for `Statements.of`."""
        self.schema = self.names.schema
        """The quoted name of the schema."""
        self.address = parse_address(address)
        self.migrations = Schema(self.lend, self.names)
        self._clock = clock
        self._limits = limits or Limits()
        self._begin()
        renew_in_children(self._renew)

    def _begin(self) -> None:
        self._lock = Lock()
        self._connector = Connector(self.address, self._limits)
        self._loops: dict[asyncio.AbstractEventLoop, _LoopConnections] = {}
        self._ready = False

    def __repr__(self) -> str:
        return f"Database({self.address.shown!r}, namespace={self.names.namespace!r})"

    @property
    def pooled(self) -> bool:
        """Whether there is a pooler in transaction mode. It is known once the database is open."""
        return self._connector.pooled

    async def open(self) -> None:
        """Connect, check the server, and upgrade the schema.

        `Unavailable` for a temporary error, `ConfigurationError` for one that a person has to fix.
        """
        here = self._here()
        if self._ready:
            return
        async with here.opening:
            if not self._ready:
                await self.migrations.apply()
                self._ready = True

    async def close(self) -> None:
        with self._lock:
            loops, self._loops = self._loops, {}
            self._ready = False
        running = asyncio.get_running_loop()
        for loop, each in loops.items():
            if loop is running:
                await each.close()
            elif loop.is_running():
                closing = asyncio.run_coroutine_threadsafe(each.close(), loop)
                await asyncio.wait([asyncio.wrap_future(closing)], timeout=2 * CLOSING)
            else:
                each.pool.abandon()

    async def fetch(self, text: str, *values: object) -> list[Record]:
        """The rows of one statement, which is a transaction of its own and one round trip."""
        if not self._ready:
            await self.open()
        pool = self._here().pool
        connection = await pool.take()
        try:
            rows = await connection.fetch(text, *values)
        except BaseException as error:
            meant = pool.meant(error, connection)
            pool.give_back(connection, error)
            if meant is None:
                raise
            raise meant from error
        pool.give_back(connection)
        return rows

    async def fetch_row(self, text: str, *values: object) -> Record | None:
        rows = await self.fetch(text, *values)
        return rows[0] if rows else None

    async def fetch_value(self, text: str, *values: object) -> Any:
        rows = await self.fetch(text, *values)
        return rows[0][0] if rows else None

    @asynccontextmanager
    async def borrow(self) -> AsyncGenerator[Connection]:
        """A connection for the body: for the rare transaction."""
        if not self._ready:
            await self.open()
        async with self._here().pool.lend() as connection:
            yield connection

    async def session(self, settings: Mapping[str, str], on_lost: Callable[[], None]) -> Session:
        """A connection of its own on the running loop, for what ends with its session."""
        connection = await self._connector.connect(settings)
        return Session(connection, self.address, on_lost)

    def lend(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for upgrades: the schema may not exist yet."""
        return self._here().pool.lend()

    def subscribe(self, channel: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the running loop after `pg_notify({channels} || channel, '')`.

        A hint: it may be unfounded, and comes also when listening begins and after each lost
        connection. The returned function ends the subscription.
        """
        return self._here().listener.subscribe(self.names.channels + channel, wake)

    def hints(self, channel: str) -> Hints:
        """Which writes of the running loop should notify the channel."""
        here = self._here()
        hints = here.hints.get(channel)
        if hints is None:
            hints = Hints(self.names.channels + channel, here.pool, self._clock)
            here.hints[channel] = hints
        return hints

    def _here(self) -> _LoopConnections:
        loop = asyncio.get_running_loop()
        here = self._loops.get(loop)
        if here is not None:
            return here
        with self._lock:
            for other in [each for each in self._loops if each.is_closed()]:
                self._loops.pop(other).pool.abandon()
            here = self._loops.get(loop)
            if here is None:
                here = _LoopConnections(self._connector, self._limits, self._clock)
                self._loops[loop] = here
        return here

    def _renew(self) -> None:
        leave_to_parent(self._loops, self._connector)
        self._begin()
