"""The coordinator: the parts of the PostgreSQL coordinator, on one schema."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.backends.hint_waiter import HintWaiter
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.coordinator.configuration import PostgresConfiguration
from drumbeat.backends.postgres.coordinator.leases import PostgresLeases
from drumbeat.backends.postgres.coordinator.news import CoordinatorWaiter
from drumbeat.backends.postgres.coordinator.registry import PostgresRegistry
from drumbeat.ports.clock import Clock

LIMITS = Limits(connections=2, patience=2.0, connecting=2.0, statement=2.0, lock=2.0)
"""A renewal that takes longer is not awaited any more. The second connection is for looking."""


MARGIN = timedelta(milliseconds=1)


class PostgresCoordinator:
    """Appoints among all nodes that reach the database."""

    def __init__(self, address: str, clock: Clock, namespace: str = "drumbeat") -> None:
        self.database = Database(address, clock, namespace, LIMITS)
        """The database itself, for tests and diagnosis."""
        waiter: CoordinatorWaiter = HintWaiter(self.database.subscribe, clock, margin=MARGIN)
        self.leases = PostgresLeases(self.database, waiter)
        self.registry = PostgresRegistry(self.database, waiter)
        self.configuration = PostgresConfiguration(self.database, waiter)

    async def open(self) -> None:
        """Connect and bring the schema up to date; make it if it does not exist."""
        await self.database.open()

    async def close(self) -> None:
        """Let go of the connections; leases run out by themselves."""
        await self.database.close()
