"""The SQLite store, made of its parts, on one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from drumbeat.backends.sqlite.connection.database import Access, Database, OpenDatabase
from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.witness_file import AVAILABLE, WitnessFile
from drumbeat.backends.sqlite.schema.schema import Schema
from drumbeat.backends.sqlite.store.audit import SqliteAudit
from drumbeat.backends.sqlite.store.fence import SqliteFence
from drumbeat.backends.sqlite.store.jobs.job_store import SqliteJobs
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroups
from drumbeat.backends.sqlite.store.nodes import SqliteNodes
from drumbeat.backends.sqlite.store.queues import SqliteQueues
from drumbeat.backends.sqlite.store.retention import SqliteRetention
from drumbeat.backends.sqlite.store.schedules.schedule_store import SqliteSchedules
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.tokens import SqliteTokens
from drumbeat.backends.sqlite.store.witnesses import SqliteWitnesses
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic

PATIENCE = 5.0
"""Seconds that a write waits for another process before it is `Unavailable`."""
TOPICS = {
    Topic.JOBS: topics.JOBS,
    Topic.TIMES: topics.TIMES,
    Topic.FINISHED: topics.FINISHED,
    Topic.CANCELLATIONS: topics.CANCELLATIONS,
}


class SqliteStore:
    """A store in one SQLite file, shared by any number of threads and processes of a machine."""

    always_hints = False  # a datagram may be lost
    writers = 1
    joining = None  # one writer at a time: the caller's transaction would keep all others out

    def __init__(
        self,
        path: str | Path,
        clock: Clock,
        namespace: str = "drumbeat",
        database: OpenDatabase[StoreSession] = Database,
    ) -> None:
        self._clock = clock
        self._groups = LimitGroups()
        # The files beside it have one name for all processes, also if some open it by a link.
        access = Access(Path(path).resolve(), namespace, PATIENCE)
        self.database: Database[StoreSession] = database(access, clock, self._begin)
        """The file itself, for tests and tools that look into it."""
        self.migrations = Schema(access, clock)
        self.schedules = SqliteSchedules(self.database, clock)
        self.jobs = SqliteJobs(self.database, clock, self._groups)
        self.nodes = SqliteNodes(self.database, clock)
        self.witnesses = self._witnesses(access.path) if AVAILABLE else None
        self.fence = SqliteFence(self.database)
        self.retention = SqliteRetention(self.database, clock)
        self.queues = SqliteQueues(self.database, clock)
        self.audit = SqliteAudit(self.database)
        self.tokens = SqliteTokens(self.database)

    async def open(self) -> None:
        """Open the file and migrate its schema; create the file if it does not exist.

        A file that is not Drumbeat's, is of a newer version, or is on a network file system is
        refused with a `ConfigurationError`, and is not changed.
        """
        await self.database.open()

    async def close(self) -> None:
        await self.database.close()

    async def now(self) -> datetime:
        """The machine's clock, which all processes that use the file share."""
        return self._clock.now()

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the loop that runs here now, after a commit of any process."""
        return self.database.messenger.subscribe(TOPICS[topic], wake)

    def _witnesses(self, path: Path) -> SqliteWitnesses:
        return SqliteWitnesses(self.database, self._clock, WitnessFile(path))

    def _begin(self, connection: sqlite3.Connection) -> StoreSession:
        return StoreSession(connection, self._clock, self._groups, self.database.messenger)
