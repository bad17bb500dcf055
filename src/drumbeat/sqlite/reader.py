"""The reader: a thread that answers questions from what was committed last."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from drumbeat.sqlite.calls import Call, answer_all
from drumbeat.sqlite.connecting import connect_reader
from drumbeat.sqlite.failures import ends_the_connection, of_the_file, unavailable

T = TypeVar("T")


class Reader:
    """Runs questions one by one. Its thread begins with the first of them."""

    def __init__(self, path: Path, patience: float, name: str) -> None:
        self._path = path
        self._patience = patience
        self._name = name
        self._calls: SimpleQueue[Call[sqlite3.Connection] | None] = SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._thread: Thread | None = None

    async def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """What the question returns. It must not write, and could not."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls.put(Call(question, future))
        return await future

    async def close(self) -> None:
        """Answer what waits, then let go of the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._calls.put(None)
            await asyncio.get_running_loop().run_in_executor(None, thread.join)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            self._serve(call)
            answer_all((call,))
            del call
        self._hang_up()

    def _serve(self, call: Call[sqlite3.Connection]) -> None:
        try:
            if self._connection is None:
                self._connection = connect_reader(self._path, self._patience)
            call.run(self._connection)
        except sqlite3.Error as error:
            if ends_the_connection(error):
                self._hang_up()
            call.fail(unavailable(self._path, error) if of_the_file(error) else error)
        except Exception as error:  # noqa: BLE001 - it goes to the caller; the thread lives on
            call.fail(error)

    def _hang_up(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
