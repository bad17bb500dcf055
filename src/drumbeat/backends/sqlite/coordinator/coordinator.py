"""The SQLite coordinator, made of its parts, on one file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from drumbeat.backends.hint_waiter import HintWaiter
from drumbeat.backends.sqlite.connection.database import Access, Database, OpenDatabase
from drumbeat.backends.sqlite.connection.session import Session
from drumbeat.backends.sqlite.coordinator.configuration import SqliteConfiguration
from drumbeat.backends.sqlite.coordinator.leases import SqliteLeases
from drumbeat.backends.sqlite.coordinator.machine import Machine, boot_id
from drumbeat.backends.sqlite.coordinator.registry import SqliteRegistry
from drumbeat.backends.sqlite.schema.schema import Schema
from drumbeat.ports.clock import Clock

PATIENCE = 2.0
"""Seconds that a renewal waits for the write lock of the file, at most as long as its caller."""


class SqliteCoordinator:
    """Appoints among the processes of one machine that share the file.

    Each one has threads and connections of its own: a store that is busy with the same file in the
    same process holds a renewal up no longer than one of its transactions takes.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Clock,
        namespace: str = "drumbeat",
        boot: str | None = None,
        *,
        database: OpenDatabase[Session] = Database,
    ) -> None:
        """`boot` names the present start of the machine; None: as the kernel does."""
        access = Access(Path(path).resolve(), namespace, PATIENCE)
        self._database: Database[Session] = database(access, clock, self._begin)
        self.migrations = Schema(access, clock)
        machine = Machine(clock, boot_id() if boot is None else boot)
        waiter = HintWaiter(self._database.messenger.subscribe, clock)
        self.leases = SqliteLeases(self._database, machine, waiter)
        self.registry = SqliteRegistry(self._database, machine, waiter)
        self.configuration = SqliteConfiguration(self._database, waiter)

    async def open(self) -> None:
        await self._database.open()

    async def close(self) -> None:
        await self._database.close()

    def _begin(self, connection: sqlite3.Connection) -> Session:
        return Session(connection, self._database.messenger)
