"""The coordinator: the parts of the PostgreSQL coordinator, on one schema."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.postgres.configuration import PostgresConfiguration
from drumbeat.coordinators.postgres.leases import PostgresLeases
from drumbeat.coordinators.postgres.news import NewsBell
from drumbeat.coordinators.postgres.registry import PostgresRegistry
from drumbeat.ports.clock import Clock
from drumbeat.postgres.connecting import Limits
from drumbeat.postgres.database import Database

LIMITS = Limits(connections=2, patience=2.0, connecting=2.0, statement=2.0, lock=2.0)
"""A renewal that takes longer is not awaited any more. The second connection is for looking."""


MARGIN = timedelta(milliseconds=1)


class PostgresCoordinator:
    """Appoints among all nodes that reach the database."""

    def __init__(self, address: str, clock: Clock, namespace: str = "drumbeat") -> None:
        self.database = Database(address, clock, namespace, LIMITS)
        """The database itself, for whoever has to look into it."""
        bell: NewsBell = Bell(self.database.subscribe, clock, margin=MARGIN)
        self.leases = PostgresLeases(self.database, bell)
        self.registry = PostgresRegistry(self.database, bell)
        self.configuration = PostgresConfiguration(self.database, bell)

    async def open(self) -> None:
        """Connect and bring the schema up to date; make it if it does not exist."""
        await self.database.open()

    async def close(self) -> None:
        """Let go of the connections; leases run out by themselves."""
        await self.database.close()
