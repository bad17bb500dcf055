"""The pool: the connections of one event loop, opened when they are needed.

A caller takes the connection that was used last, or opens one, or waits its turn. A connection that
broke is dropped; one whose caller was cancelled or lost patience is looked after (`_mend`) before
anybody else gets it, since its statement may still run. When the server cannot be reached all who
wait are told so at once: each of them would find the same.
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

MENDING = 2.0
"""Seconds after which a connection that does not come back to its senses is dropped."""
_ARE_YOU_THERE = "SELECT 1"
CLOSING = 2.0
"""Seconds that the server gets to say goodbye."""


class Pool:
    """Connections of one loop, each for one caller at a time."""

    def __init__(self, connector: Connector, limits: Limits, clock: Clock) -> None:
        self._connector = connector
        self._limits = limits
        self._clock = clock
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._opening = 0
        self._waiters: deque[asyncio.Future[Connection | None]] = deque()
        self._mending: set[asyncio.Task[None]] = set()
        self._closed = False
        self._away = False

    def is_away(self) -> bool:
        """Whether the server was out of reach when it was last asked something."""
        return self._away

    async def take(self) -> Connection:
        """A connection for one caller, who gives it back."""
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
        """The caller has done with it; the error, if any, is what it ended with."""
        if connection.is_closed():
            self._drop(connection)
        elif error is not None and _left_unfinished(error) and not self._closed:
            self._look_after(connection)
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
        """A connection for a while. Errors are those that callers should see."""
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
        """What the error of a statement is for the caller; None: it is what it is."""
        if isinstance(error, DrumbeatError):
            return None
        return translated(error, self._connector.address, connection)

    async def close(self) -> None:
        """Let go of all connections; those in use end when they are given back."""
        self._closed = True
        for task in tuple(self._mending):
            task.cancel()
        if self._mending:
            await asyncio.wait(self._mending)
        idle, self._idle = self._idle, []
        for connection in idle:
            self._all.discard(connection)
            try:
                await connection.close(timeout=CLOSING)
            except Exception:  # noqa: BLE001 - it is gone, one way or another
                connection.terminate()
        self._tell_all(unavailable(self._connector.address, "it was closed meanwhile"))

    def abandon(self) -> None:
        """Let go without a word: the event loop is over."""
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
            self._tell_all(error)
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
        alarm = self._clock.call_later(self._limits.patience, lambda: self._give_up(waiter))
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

    def _give_up(self, waiter: asyncio.Future[Connection | None]) -> None:
        if not waiter.done():
            waiter.set_exception(
                unavailable(
                    self._connector.address,
                    f"all {self._limits.connections} connections are busy",
                )
            )

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
        """There is room for one more: let a waiter open it."""
        waiter = self._next_waiter()
        if waiter is not None:
            waiter.set_result(None)

    def _tell_all(self, error: Unavailable) -> None:
        while (waiter := self._next_waiter()) is not None:
            waiter.set_exception(Unavailable(str(error)))

    def _next_waiter(self) -> asyncio.Future[Connection | None] | None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                return waiter
        return None

    def _look_after(self, connection: Connection) -> None:
        task = asyncio.get_running_loop().create_task(self._mend(connection))
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)

    async def _mend(self, connection: Connection) -> None:
        """Wait until the statement that was left has ended on the server, then pass it on.

        The client has asked the server to cancel it. If the server heeds that late, it is the
        question asked here which is cancelled, and nobody else's.
        """
        try:
            try:
                await connection.fetchval(_ARE_YOU_THERE, timeout=MENDING)
            except ServerError:
                await connection.fetchval(_ARE_YOU_THERE, timeout=MENDING)
        except BaseException as error:
            connection.terminate()
            self._drop(connection)
            if not isinstance(error, Exception):
                raise
        else:
            self.give_back(connection)


def _left_unfinished(error: BaseException) -> bool:
    """Whether the caller went away, or stopped waiting, while a statement ran."""
    return isinstance(error, TimeoutError | asyncio.CancelledError | GeneratorExit)
