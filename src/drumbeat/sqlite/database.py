"""The database: one file, and the threads of this process that use it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from drumbeat.ports.clock import Clock
from drumbeat.sqlite.calls import Draft
from drumbeat.sqlite.checkpointer import Checkpointer
from drumbeat.sqlite.connecting import connect_checkpointer, connect_writer
from drumbeat.sqlite.instants import to_number
from drumbeat.sqlite.messenger import Messenger
from drumbeat.sqlite.migrating import Naming, migrate
from drumbeat.sqlite.reader import Reader
from drumbeat.sqlite.writer import S, Wish, Writer

T = TypeVar("T")

_forks = 0
"""How often this process has become another one: asking for its number is not cheap."""


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - there is one process
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


@dataclass(frozen=True, slots=True)
class Access:
    """Which file, whose, and how long to wait for another process that writes to it."""

    path: Path
    namespace: str
    patience: float


class Handle(Generic[S]):
    """The threads of an open file."""

    def __init__(
        self, access: Access, clock: Clock, begin: Callable[[sqlite3.Connection], S]
    ) -> None:
        self.forks = _forks
        self.ready = False
        """Whether the file is known to exist with all its tables."""
        path, patience = access.path, access.patience
        naming = Naming(path, access.namespace)

        def connect() -> sqlite3.Connection:
            connection = connect_writer(path, patience)
            try:
                migrate(connection, naming, to_number(clock.now()))
            except BaseException:
                connection.close()
                raise
            connection.execute("PRAGMA busy_timeout = 0")  # the writer has its own way to wait
            return connection

        self.checkpointer = Checkpointer(path, connect_checkpointer)
        self.writer = Writer(path, patience, connect, begin, self.checkpointer)
        self.reader = Reader(path, patience, "drumbeat-sqlite-reader")
        self.views = Reader(path, patience, "drumbeat-sqlite-views")

    async def close(self) -> None:
        """End the threads, the writer last: the last connection tidies up the log."""
        await self.views.close()
        await self.reader.close()
        await asyncio.get_running_loop().run_in_executor(None, self.checkpointer.close)
        await self.writer.close()


class Database(Generic[S]):
    """A file that is opened at the first call, and again after it was closed."""

    def __init__(
        self, access: Access, clock: Clock, begin: Callable[[sqlite3.Connection], S]
    ) -> None:
        self._access = access
        self._clock = clock
        self._begin = begin
        self._lock = Lock()
        self._handle: Handle[S] | None = None
        self.messenger = Messenger(access.path)

    def write(self, step: Callable[[S], T | Draft[T]]) -> Awaitable[T]:
        """Run a step in a transaction; the answer comes once it is durable."""
        return self._opened().writer.do(step)

    def write_jointly(
        self, together: Callable[[S, Sequence[Wish]], Draft[Sequence[T]]], wish: Wish
    ) -> Awaitable[T]:
        """Like `write`, for a step that does at once what many callers wish for."""
        return self._opened().writer.join(together, wish)

    async def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Answer a question of the engine from what was committed last."""
        return await (await self._ready()).reader.ask(question)

    async def view(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Answer a question that may take long, without holding up the engine's."""
        return await (await self._ready()).views.ask(question)

    async def open(self) -> None:
        """Open the file now, so that whatever is wrong with it is said now."""
        await self._ready()

    async def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            await handle.close()
        await asyncio.get_running_loop().run_in_executor(None, self.messenger.close)

    def _opened(self) -> Handle[S]:
        handle = self._handle
        if handle is None or handle.forks != _forks:
            with self._lock:
                handle = self._handle
                if handle is None or handle.forks != _forks:
                    # After a fork the threads are the parent's, and so are its connections.
                    handle = self._handle = Handle(self._access, self._clock, self._begin)
                    self.messenger.open()
        return handle

    async def _ready(self) -> Handle[S]:
        """A reader needs a file that exists and has our tables: the writer sees to that."""
        handle = self._opened()
        if not handle.ready:
            await handle.writer.open()
            handle.ready = True
        return handle
