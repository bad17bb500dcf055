"""The lock of a SQLite file: whether it is held for longer than a write takes."""

from __future__ import annotations

import sqlite3
from contextlib import closing

SCHEME = "sqlite:///"
PATIENCE = 0.5
"""Seconds; far longer than any write of the demo takes."""


def is_stuck(address: str) -> bool:
    """Whether nobody can write to the address now. Always False for anything but SQLite.

    A process that is stopped while it writes keeps the lock of the file, and the others wait until
    it continues or dies.
    """
    if not address.startswith(SCHEME):
        return False
    path = address.removeprefix(SCHEME)
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        connection.execute("ROLLBACK")
    return False
