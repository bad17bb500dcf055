"""The reader: a thread that runs queries on the last commit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from drumbeat.backends.sqlite.connection.calls import Call, resolve_all
from drumbeat.backends.sqlite.connection.connections import connect_reader
from drumbeat.backends.sqlite.connection.errors import (
    close_quietly,
    ends_the_connection,
    of_the_file,
    unavailable,
)
from drumbeat.forks import ForkGuard

T = TypeVar("T")


class Reader:
    """Runs queries one by one. Its thread starts with the first."""

    def __init__(self, path: Path, patience: float, name: str) -> None:
        self._path = path
        self._patience = patience
        self._name = name
        self._calls: SimpleQueue[Call[sqlite3.Connection] | None] = SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._thread: Thread | None = None
        self._guard = ForkGuard(self.disconnect)

    async def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The result of a query. The connection is read-only."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls.put(Call(question, future))
        return await future

    async def close(self) -> None:
        """Finish the waiting queries, then close the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._calls.put(None)
            await asyncio.get_running_loop().run_in_executor(None, thread.join)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            with self._guard:
                self.serve(call)
            resolve_all((call,))
            del call
        with self._guard:
            self.disconnect()

    def serve(self, call: Call[sqlite3.Connection]) -> None:
        """Answer one question on the calling thread; the call keeps the answer or the error."""
        try:
            if self._connection is None:
                self._connection = connect_reader(self._path, self._patience)
            call.run(self._connection)
        except sqlite3.Error as error:
            if ends_the_connection(error):
                self.disconnect()
            call.fail(unavailable(self._path, error) if of_the_file(error) else error)
        except Exception as error:  # noqa: BLE001 - it goes to the caller; the thread goes on
            call.fail(error)

    def disconnect(self) -> None:
        """Close the connection; the next question opens another."""
        close_quietly(self._connection)
        self._connection = None
