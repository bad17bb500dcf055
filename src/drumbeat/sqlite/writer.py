"""The writer: one thread through which all changes of this process go, in batches.

There is no timer and no size to wait for. When the thread is free it takes every call that waits,
runs them one after the other in one transaction, commits once, and only then answers them all. A
lone caller is served at once; under load the batches grow by themselves. Calls that are made in the
same turn of an event loop are handed over together, at its end: else the first of a hundred would
have the thread to itself, and a commit of its own. Those of them that want the same and follow each
other are even one step (`join`), and are taken apart again only if it breaks.

**Each call is a step of its own.** One that refuses (any `DrumbeatError`) does so before its first
write, so there is nothing to undo. One that breaks in any other way makes the whole transaction
roll back, and the batch is run again with a savepoint around each: the others lose nothing, and no
call pays for a savepoint in the normal case. That is sound since a step changes nothing outside
the transaction, and nobody has been answered yet.

**Trouble with the file** (disk full, input/output errors, a lock that does not come) is nobody's
fault in particular: everything is rolled back, every call gets `Unavailable` with the reason, and
the next batch tries anew, on a new connection if the old one cannot be trusted. On a full disk the
log is checkpointed first, and the batch tried once more if that made room.

A caller that is cancelled while it waits takes nothing back: the step happens as a whole.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread, local
from typing import Generic, Protocol, TypeVar

from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.sqlite.calls import (
    Call,
    Chorus,
    Draft,
    answer_all,
    in_parts,
    word_and_answer,
)
from drumbeat.sqlite.checkpointer import Checkpointer
from drumbeat.sqlite.failures import code_of, ends_the_connection, of_the_file, unavailable

LARGEST_BATCH = 1_000
"""Calls in one transaction: more than this and the last would wait for long."""
FIRST_PAUSE = 0.000_2
LONGEST_PAUSE = 0.001
"""Seconds between two tries to get the file's write lock. SQLite's own waiting grows to a tenth of
a second, while transactions take a millisecond: two busy processes would sleep most of the time."""

T = TypeVar("T")
Wish = TypeVar("Wish")


class Session(Protocol):
    """What the steps of one transaction share."""

    def start(self) -> None:
        """The transaction has begun, or has gone back to where a step began."""
        ...

    def flush(self) -> None:
        """Write whatever is still only in memory."""
        ...

    def forget(self) -> None:
        """The transaction was rolled back: trust nothing that it wrote or read."""
        ...

    def committed(self) -> None:
        """The transaction is durable: tell whoever should know."""
        ...


S = TypeVar("S", bound=Session)


class _Turn(local, Generic[S]):
    """The calls that the event loop of a thread has made in its present turn."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.calls: list[Call[S]] = []


class Writer(Generic[S]):
    """Runs steps in transactions, on a thread of its own."""

    def __init__(
        self,
        path: Path,
        patience: float,
        connect: Callable[[], sqlite3.Connection],
        begin: Callable[[sqlite3.Connection], S],
        checkpointer: Checkpointer,
    ) -> None:
        self._path = path
        self._patience = patience
        self._never = Event()
        self._connect = connect
        self._begin = begin
        self._checkpointer = checkpointer
        self._calls: SimpleQueue[list[Call[S]] | None] = SimpleQueue()
        self._turn: _Turn[S] = _Turn()
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        self._thread = Thread(target=self._run, name="drumbeat-sqlite-writer", daemon=True)
        self._thread.start()

    def do(self, step: Callable[[S], T | Draft[T]]) -> asyncio.Future[T]:
        """Run a step in a transaction; what it returns comes once that is durable."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._calls_of(loop).append(Call(step, future))
        return future

    def join(
        self, together: Callable[[S, Sequence[Wish]], Draft[Sequence[T]]], wish: Wish
    ) -> asyncio.Future[T]:
        """Like `do`, for a step that does many at once: an answer for each wish, in their order.

        Calls of the same turn of a loop that follow each other become one.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        calls = self._calls_of(loop)
        last = calls[-1] if calls else None
        if not isinstance(last, Chorus) or last.together is not together:
            last = Chorus(together, future)
            calls.append(last)
        last.join(wish, future)
        return future

    async def open(self) -> None:
        """Open the file, so that whatever is wrong with it is said now."""
        await self.do(_nothing)

    async def close(self) -> None:
        """Finish what waits, then let go of the file."""
        if self._turn.loop is not None:
            self._hand_over()
        self._closed = True
        self._calls.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _calls_of(self, loop: asyncio.AbstractEventLoop) -> list[Call[S]]:
        """The calls that the loop has made in its present turn; at its end they are handed over."""
        turn = self._turn
        if turn.loop is not loop:
            turn.loop, turn.calls = loop, []
            loop.call_soon(self._hand_over)
        return turn.calls

    def _hand_over(self) -> None:
        """Give the thread the calls of this turn of the loop."""
        turn = self._turn
        calls, turn.calls, turn.loop = turn.calls, [], None
        if self._closed:
            calls = in_parts(calls)
            for call in calls:
                call.fail(Unavailable(f"{self._path} was closed meanwhile"))
            answer_all(calls)
        elif calls:
            self._calls.put(calls)

    def _run(self) -> None:
        going_on = True
        while going_on:
            calls = self._calls.get()
            if calls is None:
                break
            going_on = self._gather(calls)
            word_and_answer(self._serve(calls))
            del calls  # nothing of a batch stays alive while the thread waits for the next
        if self._connection is not None:
            self._checkpointer.before_close(self._connection)
        self._hang_up()

    def _gather(self, calls: list[Call[S]]) -> bool:
        """Add every call that waits; False: the last one is in."""
        with suppress(Empty):
            while sum(call.size for call in calls) < LARGEST_BATCH:
                more = self._calls.get_nowait()
                if more is None:
                    return False
                calls += more
        return True

    def _serve(self, calls: Sequence[Call[S]]) -> Sequence[Call[S]]:
        """Do what was asked for; return the calls that are to be answered for it."""
        try:
            connection = self._connection
            if connection is None:
                connection = self._connection = self._connect()
                self._checkpointer.after_open(connection)
            try:
                self._transact_with_room(connection, calls, self._one_after_the_other)
            except Exception as error:
                parts = in_parts(calls)
                if of_the_file(error) or len(parts) == 1:
                    raise
                self._transact_with_room(connection, parts, self._each_by_itself)
                return parts
        except Exception as error:  # noqa: BLE001 - it goes to the callers; the thread lives on
            parts = in_parts(calls)
            for call in parts:
                call.fail(self._told(error))
            return parts
        return calls

    def _transact_with_room(
        self,
        connection: sqlite3.Connection,
        calls: Sequence[Call[S]],
        run: Callable[[sqlite3.Connection, S, Sequence[Call[S]]], None],
    ) -> None:
        """Do it once more if the disk is full and a checkpoint makes room on it."""
        try:
            self._transact(connection, calls, run)
        except sqlite3.Error as error:
            full = code_of(error) == sqlite3.SQLITE_FULL
            if not full or not self._checkpointer.make_room(connection):
                raise
            self._transact(connection, calls, run)

    def _transact(
        self,
        connection: sqlite3.Connection,
        calls: Sequence[Call[S]],
        run: Callable[[sqlite3.Connection, S, Sequence[Call[S]]], None],
    ) -> None:
        self._get_the_lock(connection)
        session = self._begin(connection)
        try:
            session.start()
            run(connection, session, calls)
            session.flush()
            connection.execute("COMMIT")
        except BaseException:
            session.forget()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        session.committed()
        self._checkpointer.after_commit(connection)

    def _get_the_lock(self, connection: sqlite3.Connection) -> None:
        """Begin to write, as soon as no other process does and within our patience."""
        waited, pause = 0.0, FIRST_PAUSE
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or waited >= self._patience:
                    raise
            else:
                return
            self._never.wait(pause)
            waited += pause
            pause = min(2 * pause, LONGEST_PAUSE)

    def _one_after_the_other(
        self,
        _connection: sqlite3.Connection,
        session: S,
        calls: Sequence[Call[S]],
    ) -> None:
        for call in calls:
            try:
                call.run(session)
            except DrumbeatError as refusal:
                if call.size > 1:  # who of them was refused is found out one by one
                    raise
                call.fail(refusal)

    def _each_by_itself(
        self,
        connection: sqlite3.Connection,
        session: S,
        calls: Sequence[Call[S]],
    ) -> None:
        for call in calls:
            connection.execute("SAVEPOINT step")
            try:
                call.run(session)
                session.flush()
            except Exception as error:
                if of_the_file(error):
                    raise
                call.fail(error)
                session.forget()
                connection.execute("ROLLBACK TO step")
                session.start()
            connection.execute("RELEASE step")

    def _told(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error) or not of_the_file(error):
            return error
        if ends_the_connection(error):
            self._hang_up()
        return unavailable(self._path, error)

    def _hang_up(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _nothing(_session: Session) -> None:
    """The step of whoever only wants the file to be open."""
