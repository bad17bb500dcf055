"""The checkpointer: keeps the write-ahead log short, for all processes.

SQLite would checkpoint inside a commit, whenever the log has a thousand pages, and that commit
then takes tens of milliseconds. Here a thread with connections of its own does it.

**When.** After every commit the writer checks the size of the log. Above `LIMIT` it wakes the
thread. All processes check the same file. A process that opens or closes the file truncates a log
that is too long at once, since it may end before a thread could.

**How.** The log starts over only if all of it has been copied at the moment of a write. Under
steady load a checkpoint that runs beside the writers never reaches the end. So the thread copies
most of the log beside the writers, and the rest under the write lock, for a few milliseconds.

**Readers.** An open read transaction keeps the log from starting over. The thread does not wait for
readers while the log is shorter than `FORCED`. Above that it holds the write lock and waits for
them, `FORCED_PATIENCE` at most. If even that fails, it logs a warning, waits again when the log has
doubled, and tries once a second without waiting.

**Disk space.** On a disk that is nearly full (`LogFile.allowed`) the writer checkpoints by itself
after its commit and truncates the log, so that there is room left to copy the log into the
database. When a write fails because the disk is full, it does the same and tries once more.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from drumbeat.backends.sqlite.connection.errors import close_quietly, code_of
from drumbeat.backends.sqlite.connection.log.log_file import (
    LIMIT,
    SHORT,
    LogFile,
    Progress,
    copy_log,
    restart_log,
    truncate_log,
)
from drumbeat.forks import ForkGuard

FORCED = 4 * LIMIT
"""Bytes of log above which writers wait until it starts over."""
FORCED_PATIENCE = 0.1
"""Seconds that writers then wait for readers at most."""
STEP = LIMIT // 4
"""Bytes that the log grows between two attempts."""
FEW = 256
"""Pages, 1 MB, that may be copied under the write lock."""
ROUNDS = 3
"""Copies beside the writers before the one under the lock."""
RETRY = 1.0
"""Seconds until a log that a reader held back is tried again."""
TIDY = 5.0
"""Seconds after which a log that was copied is truncated, if that is possible without waiting."""
FULL_PATIENCE = 1.0
"""Seconds to wait for readers when the disk is full: nobody can write anyway."""
LOCK_PATIENCE = 1.0
LOCK_PAUSE = 0.000_5
"""Seconds between two attempts to get the write lock."""

_log = logging.getLogger("drumbeat.backends.sqlite.connection")


class Checkpointer:
    """Keeps the log of one file short. Its thread begins when the log is first too long."""

    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection]) -> None:
        self._path = path
        self._connect = connect
        self._file = LogFile(path)
        self._wanted = Event()
        self._closing = False
        self._thread: Thread | None = None
        self._pause = Event()
        """Never set: for waiting."""
        self._connections: tuple[sqlite3.Connection, sqlite3.Connection] | None = None
        self._next_at = 0
        """Size of the log at which it is tried again."""
        self._forced_at = FORCED
        """Size of the log at which writers have to wait again."""
        self._warned = False
        self._guard = ForkGuard(self._disconnect)

    def after_open(self, connection: sqlite3.Connection) -> None:
        """Truncate a long log that others left behind, on the writer's thread, without waiting."""
        if self._file.size() > self._file.allowed():
            with suppress(sqlite3.Error):
                truncate_log(connection)

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Check the log, on the writer's thread. Wake the checkpointer if it is too long."""
        size, allowed = self._file.size(), self._file.allowed()
        if size <= allowed:
            self._next_at = 0
        elif allowed < LIMIT:
            with suppress(sqlite3.Error):  # the next commit tries again, or says what is wrong
                truncate_log(connection)
        elif size >= self._next_at:
            self._next_at = size + STEP
            self._wake()

    def make_room(self, connection: sqlite3.Connection) -> bool:
        """The disk is full: truncate the log. Return whether that made room for another try."""
        before = self._file.size()
        with suppress(sqlite3.Error):
            truncate_log(connection, FULL_PATIENCE)
        return self._file.size() < before

    def before_close(self, connection: sqlite3.Connection) -> None:
        """Truncate a long log before the writer closes, without waiting for readers."""
        if self._file.size() > SHORT:
            with suppress(sqlite3.Error):
                truncate_log(connection)

    def close(self) -> None:
        """Stop after the checkpoint that is under way."""
        self._closing = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = Thread(
                target=self._run, name="drumbeat-sqlite-checkpointer", daemon=True
            )
            self._thread.start()
        self._wanted.set()

    def _run(self) -> None:
        pause: float | None = None
        while not self._closing:
            woken = self._wanted.wait(pause)
            if self._closing:
                break
            self._wanted.clear()
            with self._guard:
                try:
                    pause = self._checkpoint() if woken else self._tidy()
                except sqlite3.Error as problem:
                    self._disconnect()
                    self._warn(f"The write-ahead log of {self._path} was not copied: {problem}")
                    pause = RETRY
        with self._guard:
            self._disconnect()

    def _checkpoint(self) -> float:
        """Copy the log so that the next write starts it over; return when to look again."""
        connection, locking = self._opened()
        progress = copy_log(connection)
        for _ in range(ROUNDS - 1):
            if progress.left <= FEW:
                break
            progress = copy_log(connection)
        size = self._file.size()
        if size < FORCED:
            self._forced_at = FORCED
        forced = size >= self._forced_at
        if (forced or 0 <= progress.left <= FEW) and self._lock(locking):
            try:
                progress = copy_log(connection)
            finally:
                locking.execute("ROLLBACK")
            if forced:
                self._force(connection, progress, size)
        return RETRY if progress.left else TIDY

    def _force(self, connection: sqlite3.Connection, progress: Progress, size: int) -> None:
        """Let the log start over although there are readers; report one that stays."""
        if not progress.left:
            restart_log(connection, FORCED_PATIENCE)
            return
        self._forced_at = 2 * size
        self._warn(
            f"The write-ahead log of {self._path} has grown to {size // 2**20} MB, because a "
            "connection keeps a read transaction open. Look for a backup, a shell or a stopped "
            "process that has the file open; the log shrinks once that ends"
        )

    def _tidy(self) -> float | None:
        """After a quiet time: truncate the log, or try to copy it again."""
        size = self._file.size()
        if size <= SHORT:
            self._forced_at, self._warned = FORCED, False
            return None
        progress = truncate_log(self._opened()[0])
        if progress.left and size > LIMIT:
            return RETRY
        return TIDY

    def _lock(self, connection: sqlite3.Connection) -> bool:
        """Get the write lock. Nobody waits for this, so there is no hurry."""
        waited = 0.0
        while waited < LOCK_PATIENCE and not self._closing:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY:
                    raise
            else:
                return True
            self._pause.wait(LOCK_PAUSE)
            waited += LOCK_PAUSE
        return False

    def _opened(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        """One connection that copies, and one that holds the write lock meanwhile."""
        if self._connections is None:
            copying = self._connect(self._path)
            try:
                self._connections = copying, self._connect(self._path)
            except BaseException:
                copying.close()
                raise
        return self._connections

    def _warn(self, problem: str) -> None:
        """Log it once, until the log was short again."""
        if not self._warned:
            self._warned = True
            _log.warning(problem)

    def _disconnect(self) -> None:
        connections, self._connections = self._connections, None
        for connection in connections or ():
            close_quietly(connection)
