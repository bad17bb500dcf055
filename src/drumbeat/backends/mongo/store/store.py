"""The MongoDB store, made of its parts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from drumbeat.backends.mongo.connection.address import parse
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.schema.indexes import COLLECTIONS
from drumbeat.backends.mongo.schema.schema import Schema
from drumbeat.backends.mongo.store.audit import MongoAudit
from drumbeat.backends.mongo.store.decisions import PATIENCE, Decisions
from drumbeat.backends.mongo.store.fence import MongoFence
from drumbeat.backends.mongo.store.jobs.job_store import MongoJobs
from drumbeat.backends.mongo.store.nodes import MongoNodes
from drumbeat.backends.mongo.store.queues import MongoQueues
from drumbeat.backends.mongo.store.retention import MongoRetention
from drumbeat.backends.mongo.store.schedules.schedule_store import MongoSchedules
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.times import to_instant
from drumbeat.backends.mongo.store.tokens import MongoTokens
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic
from drumbeat.ports.witness import Witnesses

WRITERS = 8
"""Writes that are worth sending at once: different documents do not wait for each other."""


class MongoStore:
    """A store in one namespace of a MongoDB database."""

    always_hints = False
    writers = WRITERS
    joining = None  # it would need the caller's session, and servers that have transactions
    witnesses: Witnesses | None = None  # the server frees nothing when a client ends

    def __init__(
        self, address: str, clock: Clock, namespace: str = "drumbeat", patience: float = PATIENCE
    ) -> None:
        server = self.server = Server(parse(address), clock, namespace)
        """For tests and tools that look into the collections."""
        self._session = Session(server, clock, self.open)
        decisions = Decisions(self._session, patience)
        self.migrations = Schema(server)
        self.schedules = MongoSchedules(self._session, decisions)
        self.jobs = MongoJobs(self._session, decisions)
        self.nodes = MongoNodes(self._session)
        self.fence = MongoFence(self._session, decisions)
        self.retention = MongoRetention(self._session)
        self.queues = MongoQueues(self._session)
        self.audit = MongoAudit(self._session)
        self.tokens = MongoTokens(self._session)
        self.decisions = decisions
        """For tests and tools that look into what a crash has left."""

    @property
    def advice(self) -> str | None:
        """See `ports.advice`."""
        return self.server.advice

    async def open(self) -> None:
        """Connect, and bring the indexes up to date."""
        await self.server.open(COLLECTIONS, self.migrations.prepare)

    async def close(self) -> None:
        await self._session.signals.close()
        await self.server.close()

    async def now(self) -> datetime:
        """The clock of the primary."""
        async with self._session.calls() as collections:
            return to_instant(await self._session.now(collections))

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the loop that runs here now, after a change of any process."""
        return self._session.signals.subscribe(topic, wake)
