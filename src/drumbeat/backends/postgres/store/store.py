"""PostgresStore: the rooms of the store on one database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.audit import PostgresAudit
from drumbeat.backends.postgres.store.fence import PostgresFence
from drumbeat.backends.postgres.store.jobs.caller_insertion import PostgresJoining
from drumbeat.backends.postgres.store.jobs.jobs import PostgresJobs
from drumbeat.backends.postgres.store.nodes import PostgresNodes
from drumbeat.backends.postgres.store.queues import PostgresQueues
from drumbeat.backends.postgres.store.retention import PostgresRetention
from drumbeat.backends.postgres.store.schedules.schedules import PostgresSchedules
from drumbeat.backends.postgres.store.statements import JOBS
from drumbeat.backends.postgres.store.tokens import PostgresTokens
from drumbeat.backends.postgres.store.witnesses import PostgresWitnesses
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic


class PostgresStore:
    """A store in one schema of a PostgreSQL database, shared by any number of processes."""

    always_hints = False  # a notification may be lost with its connection
    writers = 2

    def __init__(
        self,
        address: str,
        clock: Clock,
        namespace: str = "drumbeat",
        limits: Limits | None = None,
    ) -> None:
        self.database = Database(address, clock, namespace, limits)
        self.migrations = self.database.migrations
        self.schedules = PostgresSchedules(self.database)
        self.jobs = PostgresJobs(self.database, clock)
        self.nodes = PostgresNodes(self.database)
        self.fence = PostgresFence(self.database)
        self.retention = PostgresRetention(self.database)
        self.queues = PostgresQueues(self.database)
        self.audit = PostgresAudit(self.database)
        self.tokens = PostgresTokens(self.database)
        self._witnesses = PostgresWitnesses(self.database)
        self.joining = PostgresJoining(self.database.names)
        self._now = JOBS.of(self.database.names).now

    @property
    def witnesses(self) -> PostgresWitnesses | None:
        """None behind a pooler in transaction mode, which keeps no sessions."""
        return None if self.database.pooled else self._witnesses

    async def open(self) -> None:
        await self.database.open()

    async def close(self) -> None:
        await self.database.close()

    async def now(self) -> datetime:
        moment: datetime = await self.database.fetch_value(self._now)
        return moment

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        return self.database.subscribe(topic.value, wake)
