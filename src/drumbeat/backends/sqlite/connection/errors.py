"""What SQLite's errors mean for a caller."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from drumbeat.model.errors import Unavailable

_MEANINGS = {
    sqlite3.SQLITE_BUSY: "another process kept it locked for too long",
    sqlite3.SQLITE_LOCKED: "another connection kept it locked for too long",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write",
    sqlite3.SQLITE_READONLY: "it cannot be written",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a database any more",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
}
_ENDS_THE_CONNECTION = frozenset(
    {
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
    }
)
_PRIMARY = 0xFF


def of_the_file(error: BaseException) -> bool:
    """Whether the file, the disk or a lock is the cause, and not the statement."""
    return isinstance(error, sqlite3.Error) and code_of(error) in _MEANINGS


def code_of(error: sqlite3.Error) -> int:
    """The primary result code; 0 if the error is not SQLite's own."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY


def ends_the_connection(error: sqlite3.Error) -> bool:
    """Whether the file must be opened again."""
    return code_of(error) in _ENDS_THE_CONNECTION


def close_quietly(connection: sqlite3.Connection | None) -> None:
    """Close a connection that is no longer needed, whatever state it is in."""
    if connection is not None:
        with suppress(sqlite3.Error):
            connection.close()


def unavailable(path: Path, error: sqlite3.Error) -> Unavailable:
    meaning = _MEANINGS.get(code_of(error), "SQLite failed")
    return Unavailable(f"{path} is not available: {meaning} ({error})")
