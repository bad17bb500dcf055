"""The schema of a file, for those who look at it and migrate it by hand."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing

from drumbeat.ports.clock import Clock
from drumbeat.sqlite.connecting import connect_reader, connect_writer
from drumbeat.sqlite.database import Access
from drumbeat.sqlite.failures import unavailable
from drumbeat.sqlite.identity import is_new
from drumbeat.sqlite.instants import to_number
from drumbeat.sqlite.migrating import (
    Migration,
    Naming,
    applied_migrations,
    known_migrations,
    migrate,
)


class Schema:
    """Which migrations there are, and which were applied. A node applies them when it starts."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock

    def known(self) -> Sequence[Migration]:
        """The migrations of this version of Drumbeat, in order."""
        return known_migrations()

    async def applied(self) -> Collection[int]:
        """The numbers of those that were applied. Looking makes no file and changes none."""
        return await asyncio.to_thread(self._applied)

    async def apply(self) -> Sequence[Migration]:
        """Apply the others, all or none, and return them."""
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
        naming = Naming(path, self._access.namespace)
        try:
            with closing(connect_writer(path, patience)) as connection:
                migrate(connection, naming, to_number(self._clock.now()))
        except sqlite3.Error as error:
            raise unavailable(path, error) from error
