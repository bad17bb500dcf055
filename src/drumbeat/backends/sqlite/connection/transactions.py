"""Transactions: run batches of calls, each batch as one transaction on one connection.

**Each call is a step of its own.** A step that refuses (raises a `DrumbeatError`) does so before
its first write, so there is nothing to undo. Any other error rolls the whole transaction back, and
the batch is run again with a savepoint around each step: the other calls lose nothing, and no call
pays for a savepoint in the normal case. This is sound because a step changes nothing outside the
transaction, and no caller has been answered yet.

**File errors** (disk full, input/output error, lock not available) are the fault of no single
call: everything is rolled back and every call fails with `Unavailable` and the reason. The next
batch tries again, on a new connection if the old one cannot be trusted. If the disk is full, the
log is checkpointed first, and the batch is tried once more if that made room.

**The disk.** A commit waits until it is on the disk, unless none of its calls needs that. The log
is one file, so a commit that waits brings all earlier ones to the disk too, also of other
processes: a power cut never undoes one and leaves a later one.

**After the commit** nothing fails a call any more. An error while others are woken or the log is
checkpointed is logged: hints may be lost, and the next commit looks at the log again.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Generic, TypeAlias, TypeVar

from drumbeat.backends.sqlite.connection.calls import Call, in_parts
from drumbeat.backends.sqlite.connection.errors import (
    close_quietly,
    code_of,
    ends_the_connection,
    of_the_file,
    unavailable,
)
from drumbeat.backends.sqlite.connection.log.checkpointer import Checkpointer
from drumbeat.backends.sqlite.connection.log.log_file import LogFile
from drumbeat.backends.sqlite.connection.session import Session
from drumbeat.forks import ForkGuard
from drumbeat.model.errors import DrumbeatError

FIRST_PAUSE = 0.000_2
LONGEST_PAUSE = 0.001
"""Seconds between two tries to get the file's write lock. SQLite's own waiting grows to a tenth of
a second, while transactions take a millisecond: two busy processes would sleep most of the time."""


_log = logging.getLogger("drumbeat.backends.sqlite.connection")


S = TypeVar("S", bound=Session)
Run: TypeAlias = Callable[[S, Sequence[Call[S]]], None]
"""Runs the steps of calls in the transaction of a session."""


class Transactions(Generic[S]):
    """Runs batches of calls on one connection, which it opens at the first batch."""

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
        self._connection: sqlite3.Connection | None = None
        self._log = LogFile(path)
        self._waits: bool = True
        """Whether commits of the present connection wait for the disk."""
        self.unsynced = False
        """Whether the last commit did not wait for the disk."""
        self._guard = ForkGuard(self.disconnect)

    def close(self) -> None:
        """Shorten a long log, then close the connection."""
        with self._guard:
            if self.unsynced:
                self.sync()
            if self._connection is not None:
                self._checkpointer.before_close(self._connection)
            self.disconnect()

    def sync(self) -> None:
        """Bring the last commits to the disk. If that fails, the next commit says so."""
        self.unsynced = False
        with suppress(OSError):
            self._log.sync()

    def run(self, calls: Sequence[Call[S]]) -> Sequence[Call[S]]:
        """Run the steps of these calls and keep their answers; return the calls to answer.

        A group of joined calls whose step failed is returned as its single calls.
        """
        with self._guard:
            return self._run(calls)

    def _run(self, calls: Sequence[Call[S]]) -> Sequence[Call[S]]:
        try:
            connection = self._connection
            if connection is None:
                connection = self._connection = self._connect()
                self._checkpointer.after_open(connection)
            try:
                self._transact_with_room(connection, calls, _in_order)
            except Exception as error:
                parts = in_parts(calls)
                if of_the_file(error) or len(parts) == 1:
                    raise
                self._transact_with_room(connection, parts, _each_by_itself)
                return parts
        except Exception as error:  # noqa: BLE001 - it goes to the callers; the thread goes on
            parts = in_parts(calls)
            for call in parts:
                call.fail(self._reported(error))
            return parts
        return calls

    def _transact_with_room(
        self, connection: sqlite3.Connection, calls: Sequence[Call[S]], run: Run[S]
    ) -> None:
        """Transact once more if the disk is full and a checkpoint makes room on it."""
        try:
            self._transact(connection, calls, run)
        except sqlite3.Error as error:
            full = code_of(error) == sqlite3.SQLITE_FULL
            if not full or not self._checkpointer.make_room(connection):
                raise
            self._transact(connection, calls, run)

    def _transact(
        self, connection: sqlite3.Connection, calls: Sequence[Call[S]], run: Run[S]
    ) -> None:
        waits = any(call.synced for call in calls)
        self._begin_immediate(connection, waits=waits)
        session = self._begin(connection)
        try:
            session.start()
            run(session, calls)
            session.flush()
            connection.execute("COMMIT")
        except BaseException:
            session.forget()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self.unsynced = not waits
        try:
            session.committed()
            self._checkpointer.after_commit(connection)
        except Exception:  # noqa: BLE001 - the calls have succeeded, and must not be said to fail
            _log.exception("After a commit to %s, a hint or a checkpoint failed", self._path)

    def _begin_immediate(self, connection: sqlite3.Connection, *, waits: bool) -> None:
        """Take the file's write lock; retry for `patience` seconds while another process has it.

        `waits` says whether the commit has to wait for the disk. Setting it reads the schema, which
        another process may lock for a moment too.
        """
        waited, pause = 0.0, FIRST_PAUSE
        while True:
            try:
                if waits != self._waits:
                    connection.execute(f"PRAGMA synchronous = {'FULL' if waits else 'NORMAL'}")
                    self._waits = waits
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or waited >= self._patience:
                    raise
            else:
                return
            self._never.wait(pause)
            waited += pause
            pause = min(2 * pause, LONGEST_PAUSE)

    def _reported(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error) or not of_the_file(error):
            return error
        if ends_the_connection(error):
            self.disconnect()
        return unavailable(self._path, error)

    def disconnect(self) -> None:
        """Close the connection; an open transaction is rolled back, and the next run reconnects."""
        close_quietly(self._connection)
        self._connection = None
        self._waits = True  # as every new connection does


def _in_order(session: S, calls: Sequence[Call[S]]) -> None:
    for call in calls:
        try:
            call.run(session)
        except DrumbeatError as refusal:
            if call.size > 1:  # they are run one by one, to see which of them is refused
                raise
            call.fail(refusal)


def _each_by_itself(session: S, calls: Sequence[Call[S]]) -> None:
    """Run each step within a savepoint."""
    for call in calls:
        session.execute("SAVEPOINT step")
        try:
            call.run(session)
            session.flush()
        except Exception as error:
            if of_the_file(error):
                raise
            call.fail(error)
            session.forget()
            session.execute("ROLLBACK TO step")
            session.start()
        session.execute("RELEASE step")
