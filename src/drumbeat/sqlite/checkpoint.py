"""Checkpoints: the ways to copy the log into the database, and how far each of them came."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class Progress(NamedTuple):
    """How far a checkpoint came. SQLite reports -1 for both if another process is at it."""

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
    """Copy what no reader holds back, beside writers and readers. Nobody waits for it."""
    return _checkpoint(connection, "PASSIVE")


def restart_log(connection: sqlite3.Connection, patience: float) -> Progress:
    """Copy everything and let the log start over. Writers wait, as does this call for readers."""
    return _patiently(connection, "RESTART", patience)


def truncate_log(connection: sqlite3.Connection, patience: float = 0.0) -> Progress:
    """Copy everything and cut the file to nothing. Writers wait, as does this call for readers.

    Most is copied first without the write lock, so that writers wait only for the rest.
    """
    copy_log(connection)
    return _patiently(connection, "TRUNCATE", patience)


def _patiently(connection: sqlite3.Connection, mode: str, patience: float) -> Progress:
    connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
    try:
        return _checkpoint(connection, mode)
    finally:
        connection.execute("PRAGMA busy_timeout = 0")


def _checkpoint(connection: sqlite3.Connection, mode: str) -> Progress:
    return Progress(*connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone())
