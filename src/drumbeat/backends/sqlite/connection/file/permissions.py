"""Permissions: a SQLite file and the files beside it are for their owner alone.

Arguments and results of jobs may hold secrets, so permissions must not depend on the umask of the
process that starts first. SQLite creates a database with mode 0644 less the umask, and gives its
log, shared memory and journal the mode of the database. So only the database is created here,
before SQLite opens it, and there is no moment at which others could open any of them.

A file that exists keeps its permissions, also an empty one.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

FILE = 0o600
FOLDER = 0o700


def create_database(path: Path) -> None:
    """Create an empty file with mode 0600, unless there is a file."""
    place = os.path.realpath(path)  # for a dangling link, the path that it points to
    with suppress(OSError):  # it exists, or SQLite reports the error
        try:
            # Unlike `open` this leaves no descriptor to close, which would drop SQLite's locks if
            # another thread has opened the file meanwhile (`application_id.py`).
            os.mknod(place, FILE | stat.S_IFREG)
        except (AttributeError, PermissionError):  # a system on which only root may do that
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE))
        os.chmod(place, FILE)  # noqa: PTH101 - a umask may take rights from the owner too
