"""PostgresCoordinator: leases, registry and configuration in one schema."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.backends.hint_waiter import HintWaiter
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.coordinator.configuration import PostgresConfiguration
from drumbeat.backends.postgres.coordinator.leases import PostgresLeases
from drumbeat.backends.postgres.coordinator.registry import PostgresRegistry
from drumbeat.ports.clock import Clock

LIMITS = Limits(connections=2, patience=2.0, connecting=2.0, statement=2.0, lock=2.0)
"""Shorter than the store's: a slow renewal is useless. The second connection is for reads."""
MARGIN = timedelta(milliseconds=1)


class PostgresCoordinator:
    """Coordinates all nodes that share a namespace of the database."""

    def __init__(self, address: str, clock: Clock, namespace: str = "drumbeat") -> None:
        self.database = Database(address, clock, namespace, LIMITS)
        waiter = HintWaiter(self.database.subscribe, clock, margin=MARGIN)
        self.leases = PostgresLeases(self.database, waiter)
        self.registry = PostgresRegistry(self.database, waiter)
        self.configuration = PostgresConfiguration(self.database, waiter)

    async def open(self) -> None:
        await self.database.open()

    async def close(self) -> None:
        await self.database.close()
