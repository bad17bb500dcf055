"""Connections: how each kind of connection to the file is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Event

from drumbeat.backends.sqlite.connection.errors import code_of, unavailable
from drumbeat.backends.sqlite.connection.file.application_id import is_new, sign
from drumbeat.backends.sqlite.connection.file.location import check_place
from drumbeat.backends.sqlite.connection.file.permissions import create_database
from drumbeat.backends.sqlite.connection.log.log_file import LIMIT
from drumbeat.model.errors import ConfigurationError

STATEMENTS = 512
"""Prepared statements that a connection keeps."""
_TRIES = 200
_PAUSE = 0.025


def connect_writer(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that writes. Every commit is durable, and none checkpoints.

    A file that does not exist is created, readable by this user alone. A file that is not
    Drumbeat's is refused and not changed.
    """
    check_place(path)
    new = is_new(path)
    if new:
        create_database(path)
    connection = _connect(path, patience)
    try:
        if new:
            sign(connection)
            is_new(path)
        _enable_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {LIMIT}")
        connection.execute(
            "PRAGMA foreign_keys = OFF"
        )  # the default; the schema has no foreign keys
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -32000")
    except sqlite3.Error as error:
        connection.close()
        raise _refusal(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path, patience: float) -> sqlite3.Connection:
    """A read-only connection, to a file that a writer has opened before."""
    connection = _connect(path, patience)
    connection.execute("PRAGMA query_only = ON")
    return connection


def connect_checkpointer(path: Path) -> sqlite3.Connection:
    """A connection that checkpoints, and waits for no lock unless it is told to."""
    connection = _connect(path, 0.0)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(
        path,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS,
    )


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait while another process does the same."""
    pause = Event()
    for attempt in range(_TRIES):
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or attempt == _TRIES - 1:
                raise
            pause.wait(_PAUSE)
        else:
            if mode != "wal":
                raise ConfigurationError(
                    f"the SQLite file's file system does not support a write-ahead log ({mode})"
                )
            return


def _refusal(path: Path, error: sqlite3.Error) -> Exception:
    match code_of(error):
        case sqlite3.SQLITE_NOTADB:
            return ConfigurationError(f"{path} is not a SQLite file; it was not changed")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return ConfigurationError(f"{path} cannot be written: {error}")
        case sqlite3.SQLITE_CANTOPEN:
            return ConfigurationError(f"{path} cannot be opened: {error}")
        case _:
            return unavailable(path, error)
