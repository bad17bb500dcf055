"""Configuration: the SQLite coordinator's small shared values."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator

from drumbeat.backends.hint_waiter import ConfigurationWatch, HintWaiter
from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.hints.topics import CONFIGURATION
from drumbeat.backends.sqlite.connection.session import Session
from drumbeat.backends.sqlite.connection.statements import Statements
from drumbeat.model.fleet.lease import Entry

SQL = Statements("drumbeat.backends.sqlite.coordinator.statements", "configuration.sql")


class SqliteConfiguration:
    """Values by key. Revisions come from one counter: a deleted key never sees one again."""

    def __init__(self, database: Database[Session], waiter: HintWaiter[int]) -> None:
        self._database = database
        self._waiter = waiter

    async def get(self, key: str) -> Entry | None:
        return await self._database.read(lambda connection: _entry(connection, key))

    async def put(self, key: str, value: bytes) -> Entry:
        return await self._database.write(lambda session: _write(session, key, value))

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        def step(session: Session) -> Entry | None:
            last = _entry(session.connection, key)
            if revision != (0 if last is None else last.revision):
                return None
            return _write(session, key, value)

        return await self._database.write(step)

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        return ConfigurationWatch(self._waiter, CONFIGURATION, lambda: self.get(key))


def _entry(connection: sqlite3.Connection, key: str) -> Entry | None:
    row = connection.execute(SQL.get, (key,)).fetchone()
    return None if row is None else Entry(key, *row)


def _write(session: Session, key: str, value: bytes | None) -> Entry:
    ((revision,),) = session.execute(SQL.next_revision).fetchall()
    if value is None:
        session.execute(SQL.remove, (key,))
    else:
        session.execute(SQL.write, (key, value, revision))
    session.hints |= CONFIGURATION
    return Entry(key, value or b"", revision)
