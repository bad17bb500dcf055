"""The checkpointer: brings the log back into the file, beside the commits and not in them.

SQLite would do it inside a commit, whenever the log has grown to a thousand pages, and that commit
then takes tens of milliseconds. Here a thread with a connection of its own does it, passively: it
waits for nobody and nobody waits for it.

A log whose end is never quite reached grows for ever, since it starts over only when all of it has
been brought in. Under steady load the thread comes close but never quite there. So once the log is
long, the writer itself brings in the little that is left, between two transactions; the next one
then starts the log over.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

ROWS = 20_000
"""Rows that this process changes between two checkpoints."""
LONG = 8_000
"""Pages of log, 32 MB, from which on the writer helps."""

_log = logging.getLogger("drumbeat.sqlite")


class Checkpointer:
    """Woken by the writer's commits."""

    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection]) -> None:
        self._path = path
        self._connect = connect
        self._wanted = Event()
        self._over = False
        self._counted_from = 0
        self._long = False
        self._thread: Thread | None = None

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Called by the writer: see whether it is time, and help if the log is long."""
        if connection.total_changes - self._counted_from < ROWS and not self._long:
            return
        self._counted_from = connection.total_changes
        if self._long:
            self._long = False
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if self._thread is None:
            self._thread = Thread(
                target=self._run, name="drumbeat-sqlite-checkpointer", daemon=True
            )
            self._thread.start()
        self._wanted.set()

    def close(self) -> None:
        """Stop after the checkpoint that is under way."""
        self._over = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        while self._wanted.wait() and not self._over:
            self._wanted.clear()
            try:
                if connection is None:
                    connection = self._connect(self._path)
                _, logged, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self._long = logged > LONG
            except sqlite3.Error as problem:
                _log.warning("the log of %s was not brought in: %s", self._path, problem)
        if connection is not None:
            connection.close()
