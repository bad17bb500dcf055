"""Connecting: how every connection to the file is made."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Event

from drumbeat.model.errors import ConfigurationError
from drumbeat.sqlite.failures import code_of, unavailable
from drumbeat.sqlite.identity import is_new, sign
from drumbeat.sqlite.location import check_place
from drumbeat.sqlite.log_file import LIMIT
from drumbeat.sqlite.privacy import create_database

STATEMENTS = 512
"""Prepared statements that a connection keeps."""
_TRIES = 200
_PAUSE = 0.025


def connect_writer(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that writes: durable at every commit, and never checkpointing within a commit.

    A file that does not exist is made, for this user alone; one that is not ours is refused and
    not touched.
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
        _keep_a_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {LIMIT}")
        connection.execute("PRAGMA foreign_keys = OFF")  # nothing refers; said for the reader
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
    """A connection that cannot write, to a file that a writer has opened before."""
    connection = _connect(path, patience)
    connection.execute("PRAGMA query_only = ON")
    return connection


def connect_checkpointer(path: Path) -> sqlite3.Connection:
    """A connection that checkpoints, and waits for nobody unless it is told to."""
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


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. While another process does just that, SQLite does not wait."""
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
                    f"the file system under the SQLite file allows no write-ahead log ({mode})"
                )
            return


def _refusal(path: Path, error: sqlite3.Error) -> Exception:
    match code_of(error):
        case sqlite3.SQLITE_NOTADB:
            return ConfigurationError(f"{path} is not a SQLite file; it was left as it is")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return ConfigurationError(f"{path} cannot be written: {error}")
        case sqlite3.SQLITE_CANTOPEN:
            return ConfigurationError(f"{path} cannot be opened: {error}")
        case _:
            return unavailable(path, error)
