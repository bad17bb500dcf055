"""The application id: tells Drumbeat's files from others before anything is written to them.

SQLite lets an application write a number of its own into the first page. It is read through SQLite
in its immutable mode, which takes no lock and does not read the log, so that the file of another
application is not changed.

The file must not be opened by Python itself: POSIX drops every lock that a process holds on a file
as soon as it closes *any* descriptor of it. Other processes would think that our connections are
closed, and the next one to leave would delete the log that we still write to. SQLite's own
connections know of each other and close their descriptors with care.

Without a lock and without the log, the first page may name more pages than the file has: another
process is copying its log at that moment, or the disk was full before it had finished. The log has
all of them. SQLite would call the file malformed, so it is told not to compare the two. A page that
is being written may still look malformed, but not a moment later.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event

from drumbeat.model.errors import ConfigurationError

APPLICATION_ID = int.from_bytes(b"Drum")
_TRIES = 250
_PAUSE = 0.02
"""Seconds between two tries to read a file that seems malformed."""


def is_new(path: Path) -> bool:
    """Whether the file does not exist or is empty; one of another application is refused."""
    try:
        if path.stat().st_size == 0:
            return True
    except FileNotFoundError:
        return True
    if _application_of(path) != APPLICATION_ID:
        raise ConfigurationError(
            f"{path} belongs to another application, not to Drumbeat; it was not changed"
        )
    return False


def _application_of(path: Path) -> int:
    pause = Event()
    for attempt in range(_TRIES):
        try:
            return _read(path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                raise ConfigurationError(
                    f"{path} is not a SQLite file; it was not changed"
                ) from None
            if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT or attempt == _TRIES - 1:
                raise ConfigurationError(f"{path} cannot be opened: {error}") from error
        pause.wait(_PAUSE)
    raise AssertionError("the last try returns or raises")


def _read(path: Path) -> int:
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # accepts a file that is too short
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        return int(application)


def sign(connection: sqlite3.Connection) -> None:
    """Write the application id into a new file, unless another process was first.

    This happens before the file gets its log, so that the id is in the file itself at once.
    """
    connection.execute("BEGIN EXCLUSIVE")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")
