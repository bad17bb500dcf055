"""The write-ahead log as a file: how long it is, and how long it may become.

The log is never opened here, only examined by its path: closing a descriptor of it would drop the
locks of SQLite (`file/application_id.py`).
"""

from __future__ import annotations

import os
from pathlib import Path

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
        """Bytes of the file; 0 if there is none."""
        try:
            return os.stat(self._name).st_size  # noqa: PTH116 - at every commit
        except OSError:
            return 0

    def allowed(self) -> int:
        """Bytes that it may have now: `LIMIT`, or less on a disk that is nearly full."""
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return LIMIT
        return min(LIMIT, found.f_bavail * found.f_frsize // SHARE)
