"""The schema of a file, for commands that inspect and migrate it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing

from drumbeat.backends.sqlite.connection.connections import connect_reader, connect_writer
from drumbeat.backends.sqlite.connection.database import Access
from drumbeat.backends.sqlite.connection.errors import unavailable
from drumbeat.backends.sqlite.connection.file.application_id import is_new
from drumbeat.backends.sqlite.connection.times import to_number
from drumbeat.backends.sqlite.schema.migration import (
    FileOwner,
    Migration,
    applied_migrations,
    known_migrations,
    migrate,
)
from drumbeat.ports.clock import Clock


class Schema:
    """Which migrations exist, and which were applied. A node applies them when it starts."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock

    def known(self) -> Sequence[Migration]:
        return known_migrations()

    async def applied(self) -> Collection[int]:
        """The versions that were applied. This neither creates nor changes a file."""
        return await asyncio.to_thread(self._applied)

    async def apply(self) -> Sequence[Migration]:
        """Apply the missing ones, all or none, and return them."""
        before = await self.applied()
        await asyncio.to_thread(self._migrate)
        return [migration for migration in self.known() if migration.version not in before]

    def _applied(self) -> Collection[int]:
        path, patience = self._access.path, self._access.patience
        if is_new(path):
            return frozenset()
        try:
            with closing(connect_reader(path, patience)) as connection:
                return frozenset(applied_migrations(connection))
        except sqlite3.Error as error:
            raise unavailable(path, error) from error

    def _migrate(self) -> None:
        path, patience = self._access.path, self._access.patience
        owner = FileOwner(path, self._access.namespace)
        try:
            with closing(connect_writer(path, patience)) as connection:
                migrate(connection, owner, to_number(self._clock.now()))
        except sqlite3.Error as error:
            raise unavailable(path, error) from error
