"""Checkpoints: the ways to copy the log into the database, and how far each has come."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class Progress(NamedTuple):
    """How far a checkpoint came. SQLite reports -1 if another connection is checkpointing."""

    blocked: int
    logged: int
    """Pages in the log."""
    copied: int
    """Pages of them that are in the database."""

    @property
    def left(self) -> int:
        """Pages that are still only in the log."""
        return self.logged - self.copied

    @property
    def elsewhere(self) -> bool:
        """Whether another connection is checkpointing at this moment."""
        return self.logged < 0


def copy_log(connection: sqlite3.Connection) -> Progress:
    """Copy as much as readers allow, while others read and write. Nobody waits for it."""
    return _checkpoint(connection, "PASSIVE")


def restart_log(connection: sqlite3.Connection, patience: float) -> Progress:
    """Copy everything and let the log start over. Writers wait; this call waits for readers."""
    return _checkpoint_within(connection, "RESTART", patience)


def truncate_log(connection: sqlite3.Connection, patience: float = 0.0) -> Progress:
    """Copy everything and truncate the log. Writers wait; this call waits for readers.

    Most is copied first without the write lock, so that writers wait only for the rest.
    """
    copy_log(connection)
    return _checkpoint_within(connection, "TRUNCATE", patience)


def _checkpoint_within(connection: sqlite3.Connection, mode: str, patience: float) -> Progress:
    connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
    try:
        return _checkpoint(connection, mode)
    finally:
        connection.execute("PRAGMA busy_timeout = 0")


def _checkpoint(connection: sqlite3.Connection, mode: str) -> Progress:
    return Progress(*connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone())
