"""The database: one namespace in it, and the connections of this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from drumbeat.backends.postgres.connection.address import check_namespace, parse_address
from drumbeat.backends.postgres.connection.client import Connection, Record
from drumbeat.backends.postgres.connection.connector import Connector, Limits
from drumbeat.backends.postgres.connection.hints import Hints
from drumbeat.backends.postgres.connection.listener import Listener
from drumbeat.backends.postgres.connection.pool import CLOSING, Pool
from drumbeat.backends.postgres.connection.statements import Names
from drumbeat.backends.postgres.schema.schema import Schema
from drumbeat.ports.clock import Clock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


_inherited: list[object] = []
"""What a fork has left us of the parent. To end it would disturb the parent, so it is kept."""


class _Branch:
    """What belongs to one event loop."""

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
        """What the namespace is called in the database: for `Statements.of`."""
        self.schema = self.names.schema
        """The quoted name of the schema."""
        self.address = parse_address(address)
        self.migrations = Schema(self, self.names)
        self._clock = clock
        self._limits = limits or Limits()
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._connector = Connector(self.address, self._limits)
        self._branches: dict[asyncio.AbstractEventLoop, _Branch] = {}
        self._ready = False

    def __repr__(self) -> str:
        return f"Database({self.address.shown!r}, namespace={self.names.namespace!r})"

    @property
    def pooled(self) -> bool:
        """Whether a pooler lends us sessions. It is known once the database is open."""
        return self._connector.pooled

    async def open(self) -> None:
        """Connect, see that the server will do, and bring the schema up to date.

        `ConfigurationError` for what will not heal by itself, `Unavailable` for what may.
        """
        branch = self._branch()
        if self._ready:
            return
        async with branch.opening:
            if not self._ready:
                await self.migrations.apply()
                self._ready = True

    async def close(self) -> None:
        """Let go of the connections of all event loops."""
        with self._lock:
            branches, self._branches = self._branches, {}
            self._ready = False
        here = asyncio.get_running_loop()
        for loop, branch in branches.items():
            if loop is here:
                await branch.close()
            elif loop.is_running():
                closing = asyncio.run_coroutine_threadsafe(branch.close(), loop)
                await asyncio.wait([asyncio.wrap_future(closing)], timeout=2 * CLOSING)
            else:
                branch.pool.abandon()

    async def fetch(self, text: str, *values: object) -> list[Record]:
        """The rows of one statement, which is a transaction of its own and one round trip."""
        if not self._ready:
            await self.open()
        pool = self._branch().pool
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
        """The first row of one statement."""
        rows = await self.fetch(text, *values)
        return rows[0] if rows else None

    async def fetch_value(self, text: str, *values: object) -> Any:
        """The first value of the first row of one statement."""
        rows = await self.fetch(text, *values)
        return rows[0][0] if rows else None

    def borrow(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for a while: for the rare transaction."""
        return self._borrowed()

    def lend(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for schema upgrades: the schema may not exist yet."""
        return self._branch().pool.lend()

    def subscribe(self, channel: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Wake on the running loop after `pg_notify({channels} || channel, '')` by anyone.

        A hint: it may come in vain, and comes once when listening begins, and again after each
        connection that was lost. The call that is returned ends it.
        """
        return self._branch().listener.subscribe(self.names.channels + channel, wake)

    def hints(self, channel: str) -> Hints:
        """Whether a write should notify the channel by itself, on the running loop."""
        branch = self._branch()
        hints = branch.hints.get(channel)
        if hints is None:
            hints = Hints(self.names.channels + channel, branch.pool, self._clock)
            branch.hints[channel] = hints
        return hints

    @asynccontextmanager
    async def _borrowed(self) -> AsyncGenerator[Connection]:
        if not self._ready:
            await self.open()
        async with self._branch().pool.lend() as connection:
            yield connection

    def _branch(self) -> _Branch:
        loop = asyncio.get_running_loop()
        branch = self._branches.get(loop)
        if branch is not None and self._process == os.getpid():
            return branch
        with self._lock:
            if self._process != os.getpid():
                _inherited.append(self._branches)
                self._begin()
            for other in [each for each in self._branches if each.is_closed()]:
                self._branches.pop(other).pool.abandon()
            branch = self._branches.get(loop)
            if branch is None:
                branch = _Branch(self._connector, self._limits, self._clock)
                self._branches[loop] = branch
        return branch
