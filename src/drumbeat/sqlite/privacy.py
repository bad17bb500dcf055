"""Privacy: what is created beside and as a SQLite file is for its owner alone.

Arguments and results of jobs may hold secrets, so rights must not depend on the umask of whoever
starts first. SQLite creates a database with mode 0644 less the umask, and gives its log, its shared
memory and its journal the rights of the database. So only the database has to be created by us,
before SQLite opens it; there is no moment at which others could open any of them.

A file that exists keeps its rights, also an empty one: somebody gave it those on purpose.
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
    place = os.path.realpath(path)  # of a link that leads nowhere yet, the place it leads to
    with suppress(OSError):  # there is one already, or SQLite says what is wrong
        try:
            # Unlike `open` this leaves no descriptor to close, which would drop SQLite's locks if
            # another thread has opened the file meanwhile (`identity.py`).
            os.mknod(place, FILE | stat.S_IFREG)
        except (AttributeError, PermissionError):  # a system on which only root may do that
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE))
        os.chmod(place, FILE)  # noqa: PTH101 - a umask may take rights from the owner too
