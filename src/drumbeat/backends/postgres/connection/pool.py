"""The pool: the connections of one event loop, opened when they are needed.

A caller gets the idle connection that was used last, or a new one, or waits. A broken connection is
dropped. If the caller was cancelled or timed out, its statement may still run, so the connection is
checked (`_recover`) before the next caller gets it. If the server is unreachable, all waiting
callers get the error at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from drumbeat.backends.postgres.connection.client import Connection, ServerError
from drumbeat.backends.postgres.connection.connector import Connector, Limits
from drumbeat.backends.postgres.connection.failures import (
    ends_the_connection,
    translated,
    unavailable,
)
from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.ports.clock import Clock

RECOVERY = 2.0
"""Seconds that the statement of a cancelled caller has to end on the server."""
CLOSING = 2.0
"""Seconds that the server has to close a connection."""


class Pool:
    """The connections of one event loop, each for one caller at a time."""

    def __init__(self, connector: Connector, limits: Limits, clock: Clock) -> None:
        self._connector = connector
        self._limits = limits
        self._clock = clock
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._opening = 0
        self._waiters: deque[asyncio.Future[Connection | None]] = deque()
        self._recovering: set[asyncio.Task[None]] = set()
        self._closed = False
        self._away = False

    def is_away(self) -> bool:
        """Whether the server was unreachable at the last call."""
        return self._away

    async def take(self) -> Connection:
        """A connection for one caller, who has to give it back."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
            self._all.discard(connection)
        if self._closed:
            raise unavailable(self._connector.address, "it was closed meanwhile")
        if len(self._all) + self._opening < self._limits.connections:
            return await self._open()
        return await self._wait()

    def give_back(self, connection: Connection, error: BaseException | None = None) -> None:
        """Return a connection, with the error that its use ended with, if any."""
        if connection.is_closed():
            self._drop(connection)
        elif error is not None and _left_unfinished(error) and not self._closed:
            self._start_recovery(connection)
        elif (
            self._closed
            or connection.is_in_transaction()
            or (error is not None and ends_the_connection(error))
        ):
            connection.terminate()
            self._drop(connection)
        else:
            self._pass_on(connection)

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[Connection]:
        """A connection for the body. Errors are translated for callers."""
        connection = await self.take()
        try:
            yield connection
        except BaseException as error:
            meant = self.meant(error, connection)
            self.give_back(connection, error)
            if meant is None:
                raise
            raise meant from error
        else:
            self.give_back(connection)

    def meant(self, error: BaseException, connection: Connection) -> DrumbeatError | None:
        """The error for callers; None: raise the original one."""
        if isinstance(error, DrumbeatError):
            return None
        return translated(error, self._connector.address, connection)

    async def close(self) -> None:
        """Close all connections; those in use close when they are given back."""
        self._closed = True
        for task in tuple(self._recovering):
            task.cancel()
        if self._recovering:
            await asyncio.wait(self._recovering)
        idle, self._idle = self._idle, []
        for connection in idle:
            self._all.discard(connection)
            try:
                await connection.close(timeout=CLOSING)
            except Exception:  # noqa: BLE001 - it is closed in either case
                connection.terminate()
        self._fail_all(unavailable(self._connector.address, "it was closed meanwhile"))

    def abandon(self) -> None:
        """Drop all connections of an event loop that has ended."""
        self._closed = True
        for connection in self._all:
            with suppress(RuntimeError):
                connection.terminate()
        self._all.clear()
        self._idle.clear()

    async def _open(self) -> Connection:
        self._opening += 1
        try:
            connection = await self._connector.connect()
        except Unavailable as error:
            self._away = True
            self._fail_all(error)
            raise
        except BaseException:
            self._wake_one()
            raise
        finally:
            self._opening -= 1
        self._all.add(connection)
        return connection

    async def _wait(self) -> Connection:
        waiter: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        alarm = self._clock.call_later(self._limits.patience, lambda: self._time_out(waiter))
        try:
            connection = await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and not waiter.exception():
                given = waiter.result()
                if given is None:
                    self._wake_one()
                else:
                    self.give_back(given)
            raise
        finally:
            alarm.cancel()
            with suppress(ValueError):
                self._waiters.remove(waiter)
        return await self.take() if connection is None else connection

    def _time_out(self, waiter: asyncio.Future[Connection | None]) -> None:
        if not waiter.done():
            reason = f"all {self._limits.connections} connections are busy"
            waiter.set_exception(unavailable(self._connector.address, reason))

    def _pass_on(self, connection: Connection) -> None:
        self._away = False
        waiter = self._next_waiter()
        if waiter is None:
            self._idle.append(connection)
        else:
            waiter.set_result(connection)

    def _drop(self, connection: Connection) -> None:
        self._away = True
        self._all.discard(connection)
        self._wake_one()

    def _wake_one(self) -> None:
        """Let a waiter open a connection."""
        waiter = self._next_waiter()
        if waiter is not None:
            waiter.set_result(None)

    def _fail_all(self, error: Unavailable) -> None:
        while (waiter := self._next_waiter()) is not None:
            waiter.set_exception(Unavailable(str(error)))

    def _next_waiter(self) -> asyncio.Future[Connection | None] | None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                return waiter
        return None

    def _start_recovery(self, connection: Connection) -> None:
        task = asyncio.get_running_loop().create_task(self._recover(connection))
        self._recovering.add(task)
        task.add_done_callback(self._recovering.discard)

    async def _recover(self, connection: Connection) -> None:
        """Wait until the statement of the earlier caller has ended, then pass the connection on.

        The client has asked the server to cancel that statement. A late cancellation hits the
        query here, and not that of the next caller.
        """
        try:
            with suppress(ServerError):
                await connection.fetchval("SELECT 1", timeout=RECOVERY)
            await connection.fetchval("SELECT 1", timeout=RECOVERY)
        except BaseException as error:
            connection.terminate()
            self._drop(connection)
            if not isinstance(error, Exception):
                raise
        else:
            self.give_back(connection)


def _left_unfinished(error: BaseException) -> bool:
    """Whether the caller was cancelled or timed out while a statement ran."""
    return isinstance(error, TimeoutError | asyncio.CancelledError | GeneratorExit)
