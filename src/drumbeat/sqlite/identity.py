"""Identity: telling our files from those of others, before SQLite has touched them.

SQLite lets an application write a number of its own into the first page. It is read here from the
bytes of the file: even opening a stranger's file with SQLite could write to it, by bringing its
log in.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from drumbeat.model.errors import ConfigurationError

APPLICATION_ID = int.from_bytes(b"Drum")
MAGIC = b"SQLite format 3\x00"
_HEADER = 100
_PLACE = slice(68, 72)


def is_new(path: Path) -> bool:
    """Whether there is no file yet, or an empty one; one that is not ours is refused."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return True
    if not header:
        return True
    if not header.startswith(MAGIC):
        raise ConfigurationError(f"{path} is not a SQLite file; it was left as it is")
    if int.from_bytes(header[_PLACE]) != APPLICATION_ID:
        raise ConfigurationError(
            f"{path} belongs to another application, not to Drumbeat; it was left as it is"
        )
    return False


def sign(connection: sqlite3.Connection) -> None:
    """Make a new file ours, unless another process was first; then it is checked like any.

    This happens before the file gets its log, so that the mark is in the file itself at once.
    """
    connection.execute("BEGIN EXCLUSIVE")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")
