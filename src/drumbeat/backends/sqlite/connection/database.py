"""The database: one file, and the threads of this process that use it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

from drumbeat.backends.sqlite.connection.calls import DeferredResult
from drumbeat.backends.sqlite.connection.connections import connect_checkpointer, connect_writer
from drumbeat.backends.sqlite.connection.hints.messenger import Messenger
from drumbeat.backends.sqlite.connection.log.checkpointer import Checkpointer
from drumbeat.backends.sqlite.connection.reader import Reader
from drumbeat.backends.sqlite.connection.times import to_number
from drumbeat.backends.sqlite.connection.transactions import S, Transactions
from drumbeat.backends.sqlite.connection.writer import Request, Writer
from drumbeat.backends.sqlite.schema.migration import FileOwner, migrate
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.ports.clock import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """Which file, its namespace, and how long to wait for the write lock of another process."""

    path: Path
    namespace: str
    patience: float


def transactions(
    access: Access,
    clock: Clock,
    begin: Callable[[sqlite3.Connection], S],
    checkpointer: Checkpointer,
) -> Transactions[S]:
    """Transactions on the file, which is created and migrated when it is first opened."""
    path, patience = access.path, access.patience
    owner = FileOwner(path, access.namespace)

    def connect() -> sqlite3.Connection:
        connection = connect_writer(path, patience)
        try:
            migrate(connection, owner, to_number(clock.now()))
        except BaseException:
            connection.close()
            raise
        connection.execute("PRAGMA busy_timeout = 0")  # `Transactions` waits for the lock itself
        return connection

    return Transactions(path, patience, connect, begin, checkpointer)


class OpenFile(Generic[S]):
    """The threads of an open file."""

    def __init__(
        self, access: Access, clock: Clock, begin: Callable[[sqlite3.Connection], S]
    ) -> None:
        self.ready = False
        """Whether the file is known to exist with all its tables."""
        path, patience = access.path, access.patience
        self.checkpointer = Checkpointer(path, connect_checkpointer)
        self.writer = Writer(path, transactions(access, clock, begin, self.checkpointer))
        self.reader = Reader(path, patience, "drumbeat-sqlite-reader")
        self.views = Reader(path, patience, "drumbeat-sqlite-views")

    async def close(self) -> None:
        """End the threads, the writer last: the last connection truncates the log."""
        await self.views.close()
        await self.reader.close()
        await asyncio.get_running_loop().run_in_executor(None, self.checkpointer.close)
        await self.writer.close()


class Database(Generic[S]):
    """A file that is opened at the first call, and again after it was closed.

    The simulator has a subclass that runs every step at once, without threads.
    """

    def __init__(
        self, access: Access, clock: Clock, begin: Callable[[sqlite3.Connection], S]
    ) -> None:
        self._access = access
        self._clock = clock
        self._begin = begin
        self._lock = Lock()
        self._handle: OpenFile[S] | None = None
        self.messenger = Messenger(access.path)
        renew_in_children(self._renew)

    def write(self, step: Callable[[S], T | DeferredResult[T]]) -> Awaitable[T]:
        """Run a step in a transaction; its result comes after the commit."""
        return self._opened().writer.do(step)

    def write_unsynced(self, step: Callable[[S], T | DeferredResult[T]]) -> Awaitable[T]:
        """Like `write`, but a power cut may undo it, unless a `write` has followed."""
        return self._opened().writer.do_unsynced(step)

    def write_jointly(
        self,
        together: Callable[[S, Sequence[Request]], DeferredResult[Sequence[T]]],
        request: Request,
    ) -> Awaitable[T]:
        """Like `write`, for a step that serves the requests of many callers at once."""
        return self._opened().writer.join(together, request)

    async def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query of the engine on the last commit."""
        return await (await self._ready()).reader.ask(question)

    async def view(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query that may take long, without delaying those of the engine."""
        return await (await self._ready()).views.ask(question)

    async def open(self) -> None:
        """Open the file now, so that its errors are raised now."""
        await self._ready()

    async def close(self) -> None:
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            await handle.close()
        await asyncio.get_running_loop().run_in_executor(None, self.messenger.close)

    def _opened(self) -> OpenFile[S]:
        handle = self._handle
        if handle is None:
            with self._lock:
                handle = self._handle
                if handle is None:
                    handle = self._handle = OpenFile(self._access, self._clock, self._begin)
                    self.messenger.open()
        return handle

    def _renew(self) -> None:
        """The threads are the parent's. Their connections were closed before the fork, because
        SQLite would take the parent's locks on the file for ours.
        """
        leave_to_parent(self._handle)
        self._lock, self._handle = Lock(), None

    async def _ready(self) -> OpenFile[S]:
        """Let the writer create the file and its tables: a reader needs them."""
        handle = self._opened()
        if not handle.ready:
            await handle.writer.open()
            handle.ready = True
        return handle


OpenDatabase: TypeAlias = Callable[[Access, Clock, Callable[[sqlite3.Connection], S]], Database[S]]
