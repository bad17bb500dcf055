"""Configuration: the PostgreSQL coordinator's small shared values."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.coordinators.postgres.news import News, NewsBell
from drumbeat.model.lease import Entry
from drumbeat.postgres.database import Database
from drumbeat.postgres.statements import Statements

SQL = Statements("drumbeat.coordinators.postgres.statements", "configuration.sql")


class PostgresConfiguration:
    """Values by key. Revisions come from one sequence: a deleted key never sees one again."""

    def __init__(self, database: Database, bell: NewsBell) -> None:
        self._database = database
        self._bell = bell
        self._sql = SQL.of(database.names)

    async def get(self, key: str) -> Entry | None:
        """The value, or None."""
        row = await self._database.fetch_row(self._sql.get, key)
        return None if row is None else Entry(key, row["value"], row["revision"])

    async def put(self, key: str, value: bytes) -> Entry:
        """Write whatever was there."""
        revision = await self._database.fetch_value(self._sql.put, key, value)
        return Entry(key, value, revision)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision."""
        if revision == 0:
            written = await self._database.fetch_value(self._sql.create, key, value)
        else:
            written = await self._database.fetch_value(self._sql.replace, key, value, revision)
        return None if written is None else Entry(key, value or b"", written)

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change."""
        return _Watch(self, self._bell, key)


class _Watch:
    """Sees the last write each time that it is asked, if it has not seen it yet."""

    def __init__(self, configuration: PostgresConfiguration, bell: NewsBell, key: str) -> None:
        self._configuration = configuration
        self._bell = bell
        self._key = key
        self._seen: tuple[Entry | None] | None = None
        """What was seen last, in a tuple, since seeing that there is nothing is something too."""

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        self._seen = await self._bell.wait_for(News.CONFIGURATION, self._unseen, lambda: None)
        return self._seen[0]

    async def _unseen(self) -> tuple[Entry | None] | None:
        last = (await self._configuration.get(self._key),)
        return None if last == self._seen else last
