"""Configuration: the SQLite coordinator's small shared values."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.sqlite.session import CoordinatorSession
from drumbeat.model.lease import Entry
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.news import CONFIGURATION
from drumbeat.sqlite.statements import Statements

SQL = Statements("drumbeat.coordinators.sqlite.statements", "configuration.sql")


class SqliteConfiguration:
    """Values by key. Revisions come from one counter: a deleted key never sees one again."""

    def __init__(self, database: Database[CoordinatorSession], bell: Bell[int]) -> None:
        self._database = database
        self._bell = bell

    async def get(self, key: str) -> Entry | None:
        """The value, or None."""
        return await self._database.read(lambda connection: _entry(connection, key))

    async def put(self, key: str, value: bytes) -> Entry:
        """Write whatever was there."""
        return await self._database.write(lambda session: _write(session, key, value))

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision."""

        def step(session: CoordinatorSession) -> Entry | None:
            last = _entry(session.connection, key)
            if revision != (0 if last is None else last.revision):
                return None
            return _write(session, key, value)

        return await self._database.write(step)

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change."""
        return _Watch(self, self._bell, key)


class _Watch:
    """Sees the last write each time that it is asked, if it has not seen it yet."""

    def __init__(self, configuration: SqliteConfiguration, bell: Bell[int], key: str) -> None:
        self._configuration = configuration
        self._bell = bell
        self._key = key
        self._seen: tuple[Entry | None] | None = None
        """What was seen last, in a tuple, since seeing that there is nothing is something too."""

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        self._seen = await self._bell.wait_for(CONFIGURATION, self._unseen, lambda: None)
        return self._seen[0]

    async def _unseen(self) -> tuple[Entry | None] | None:
        last = (await self._configuration.get(self._key),)
        return None if last == self._seen else last


def _entry(connection: sqlite3.Connection, key: str) -> Entry | None:
    row = connection.execute(SQL.get, (key,)).fetchone()
    return None if row is None else Entry(key, *row)


def _write(session: CoordinatorSession, key: str, value: bytes | None) -> Entry:
    ((revision,),) = session.execute(SQL.next_revision).fetchall()
    if value is None:
        session.execute(SQL.remove, (key,))
    else:
        session.execute(SQL.write, (key, value, revision))
    session.news |= CONFIGURATION
    return Entry(key, value or b"", revision)
