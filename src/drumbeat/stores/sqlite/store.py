"""The store: the parts of the SQLite store, on one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic
from drumbeat.sqlite import news
from drumbeat.sqlite.database import Access, Database
from drumbeat.sqlite.schema import Schema
from drumbeat.stores.sqlite.audit import SqliteAudit
from drumbeat.stores.sqlite.fence import SqliteFence
from drumbeat.stores.sqlite.jobs import SqliteJobs
from drumbeat.stores.sqlite.lines import Lines
from drumbeat.stores.sqlite.nodes import SqliteNodes
from drumbeat.stores.sqlite.queues import SqliteQueues
from drumbeat.stores.sqlite.retention import SqliteRetention
from drumbeat.stores.sqlite.schedules import SqliteSchedules
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.tokens import SqliteTokens

PATIENCE = 5.0
"""Seconds that a write waits for another process before it is `Unavailable`."""
NEWS = {
    Topic.JOBS: news.JOBS,
    Topic.TIMES: news.TIMES,
    Topic.FINISHED: news.FINISHED,
    Topic.CANCELLATIONS: news.CANCELLATIONS,
}


class SqliteStore:
    """A store in one SQLite file, shared by any number of threads and processes of a machine."""

    always_hints = False  # a datagram may be lost
    writers = 1
    joining = None  # one writer at a time: the caller's transaction would keep all others out

    def __init__(self, path: str | Path, clock: Clock, namespace: str = "drumbeat") -> None:
        self._clock = clock
        self._lines = Lines()
        access = Access(Path(path).absolute(), namespace, PATIENCE)
        self.database: Database[StoreSession] = Database(access, clock, self._begin)
        """The file itself, for whoever has to look into it."""
        self.migrations = Schema(access, clock)
        self.schedules = SqliteSchedules(self.database, clock)
        self.jobs = SqliteJobs(self.database, clock, self._lines)
        self.nodes = SqliteNodes(self.database, clock)
        self.fence = SqliteFence(self.database)
        self.retention = SqliteRetention(self.database, clock)
        self.queues = SqliteQueues(self.database, clock)
        self.audit = SqliteAudit(self.database)
        self.tokens = SqliteTokens(self.database)

    async def open(self) -> None:
        """Open the file and bring its schema up to date; make it if it does not exist.

        A file that is not ours, is newer than we are, or lies where SQLite is not safe is a
        `ConfigurationError`, and is not touched.
        """
        await self.database.open()

    async def close(self) -> None:
        """Finish what was asked for, then let go of the file."""
        await self.database.close()

    async def now(self) -> datetime:
        """The injected clock: the machine's, which all users of the file share."""
        return self._clock.now()

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the loop that runs here now, after a commit of any process."""
        return self.database.messenger.subscribe(NEWS[topic], wake)

    def _begin(self, connection: sqlite3.Connection) -> StoreSession:
        return StoreSession(connection, self._clock, self._lines, self.database.messenger)
