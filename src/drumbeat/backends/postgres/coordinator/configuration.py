"""PostgresConfiguration: small values that the fleet shares, in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.backends.hint_waiter import ConfigurationWatch, HintWaiter
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Statements
from drumbeat.model.fleet.lease import Entry

SQL = Statements("drumbeat.backends.postgres.coordinator.statements", "configuration.sql")


class PostgresConfiguration:
    """Values by key. Revisions come from one sequence, so a deleted key never repeats one."""

    def __init__(self, database: Database, waiter: HintWaiter[str]) -> None:
        self._database = database
        self._waiter = waiter
        self._sql = SQL.of(database.names)

    async def get(self, key: str) -> Entry | None:
        row = await self._database.fetch_row(self._sql.get, key)
        return None if row is None else Entry(key, row["value"], row["revision"])

    async def put(self, key: str, value: bytes) -> Entry:
        revision = await self._database.fetch_value(self._sql.put, key, value)
        return Entry(key, value, revision)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        if revision == 0:
            written = await self._database.fetch_value(self._sql.create, key, value)
        else:
            written = await self._database.fetch_value(self._sql.replace, key, value, revision)
        return None if written is None else Entry(key, value or b"", written)

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        return ConfigurationWatch(self._waiter, "configuration", lambda: self.get(key))
