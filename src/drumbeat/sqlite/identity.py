"""Identity: telling our files from those of others, before anything is written to them.

SQLite lets an application write a number of its own into the first page. It is read through SQLite
in its immutable mode, which takes no lock and brings no log in, so that a stranger's file stays as
it is.

It must not be read by opening the file ourselves: POSIX drops every lock that a process holds on a
file as soon as it closes *any* descriptor of it. Other processes would take our open connections
for gone, and the next of them to leave would delete the log that we still write to. SQLite's own
connections know of each other and close their descriptors with care.

Without a lock and without the log we may find a first page that tells of more pages than the file
has: another process is copying its log at that moment, or the disk was full before it was through.
The log has all of them. SQLite would call the file malformed, so it is told not to compare the two.
A page that is just being written may still look malformed; it does not a moment later.
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
"""Seconds between two looks at a file that seems malformed."""


def is_new(path: Path) -> bool:
    """Whether there is no file yet, or an empty one; one that is not ours is refused."""
    try:
        if path.stat().st_size == 0:
            return True
    except FileNotFoundError:
        return True
    if _application_of(path) != APPLICATION_ID:
        raise ConfigurationError(
            f"{path} belongs to another application, not to Drumbeat; it was left as it is"
        )
    return False


def _application_of(path: Path) -> int:
    pause = Event()
    for attempt in range(_TRIES):
        try:
            return _look(path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                raise ConfigurationError(
                    f"{path} is not a SQLite file; it was left as it is"
                ) from None
            if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT or attempt == _TRIES - 1:
                raise ConfigurationError(f"{path} cannot be opened: {error}") from error
        pause.wait(_PAUSE)
    raise AssertionError("the last look returns or raises")


def _look(path: Path) -> int:
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # accepts a file that is too short
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        return int(application)


def sign(connection: sqlite3.Connection) -> None:
    """Make a new file ours, unless another process was first; then it is checked like any.

    This happens before the file gets its log, so that the mark is in the file itself at once.
    """
    connection.execute("BEGIN EXCLUSIVE")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")
