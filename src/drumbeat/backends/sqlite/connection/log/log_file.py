"""The write-ahead log: how long it is, how long it may become, and how it is checkpointed.

Its size is examined by its path, at every commit. It is opened only to bring it to the disk: unlike
the database itself (`file/application_id.py`), SQLite locks no part of it.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

LIMIT = 8 * 2**20
"""Bytes of log from which on it is checkpointed. Writers cut the file to this size when they start
it over (`journal_size_limit`), so a longer file means a longer log, from any process."""
SHORT = 2**20
"""Bytes of log that are left alone when a process leaves, and at a quiet moment."""
SHARE = 4
"""The log may take this fraction (one in N) of the free disk space. A checkpoint copies at most
as many bytes into the database as the log has, so there is always room for it."""


class LogFile:
    """The log beside a database."""

    def __init__(self, path: Path) -> None:
        self._name = f"{path}-wal"
        self._folder = str(path.parent)

    def size(self) -> int:
        try:
            return os.stat(self._name).st_size  # noqa: PTH116 - at every commit
        except OSError:
            return 0

    def sync(self) -> None:
        """Bring all that was committed to the disk."""
        handle = os.open(self._name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fdatasync(handle)
        finally:
            os.close(handle)

    def allowed(self) -> int:
        """Bytes that it may have now: `LIMIT`, or less on a disk that is nearly full."""
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return LIMIT
        return min(LIMIT, found.f_bavail * found.f_frsize // SHARE)


class Progress(NamedTuple):
    """How far a checkpoint came. SQLite reports -1 if another connection is checkpointing."""

    blocked: int
    logged: int
    """Pages in the log."""
    copied: int
    """Pages of them that are in the database."""

    @property
    def left(self) -> int:
        return self.logged - self.copied


def copy_log(connection: sqlite3.Connection) -> Progress:
    """Copy as much as readers allow, while others read and write. Nobody waits for it."""
    return _checkpoint(connection, "PASSIVE")


def restart_log(connection: sqlite3.Connection, patience: float) -> Progress:
    """Copy everything and let the log start over. Writers wait; this call waits for readers."""
    return _checkpoint_within(connection, "RESTART", patience)


def truncate_log(connection: sqlite3.Connection, patience: float = 0.0) -> Progress:
    """Copy everything and truncate the log. Writers wait; this call waits for readers.

    Most is copied first without the write lock, so that writers wait only for the rest.
    """
    copy_log(connection)
    return _checkpoint_within(connection, "TRUNCATE", patience)


def _checkpoint_within(connection: sqlite3.Connection, mode: str, patience: float) -> Progress:
    connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
    try:
        return _checkpoint(connection, mode)
    finally:
        connection.execute("PRAGMA busy_timeout = 0")


def _checkpoint(connection: sqlite3.Connection, mode: str) -> Progress:
    return Progress(*connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone())
