"""The coordinator: the parts of the SQLite coordinator, on one file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.sqlite.configuration import SqliteConfiguration
from drumbeat.coordinators.sqlite.leases import SqliteLeases
from drumbeat.coordinators.sqlite.machine import Machine
from drumbeat.coordinators.sqlite.registry import SqliteRegistry
from drumbeat.coordinators.sqlite.session import CoordinatorSession
from drumbeat.ports.clock import Clock
from drumbeat.sqlite.boot import boot_id
from drumbeat.sqlite.database import Access, Database

PATIENCE = 2.0
"""Seconds that a renewal waits for whoever writes to the file; no longer than it is awaited."""


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
    ) -> None:
        """`boot` names the present start of the machine; None: as the kernel does."""
        access = Access(Path(path).absolute(), namespace, PATIENCE)
        self._database: Database[CoordinatorSession] = Database(access, clock, self._begin)
        machine = Machine(clock, boot_id() if boot is None else boot)
        bell = Bell(self._database.messenger.subscribe, clock)
        self.leases = SqliteLeases(self._database, machine, bell)
        self.registry = SqliteRegistry(self._database, machine, bell)
        self.configuration = SqliteConfiguration(self._database, bell)

    async def open(self) -> None:
        """Open the file and bring its schema up to date; make it if it does not exist."""
        await self._database.open()

    async def close(self) -> None:
        """Let go of the file; leases run out by themselves."""
        await self._database.close()

    def _begin(self, connection: sqlite3.Connection) -> CoordinatorSession:
        return CoordinatorSession(connection, self._database.messenger)
