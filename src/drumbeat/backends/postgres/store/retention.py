"""Retention: the PostgreSQL store's pruning."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.jobs.tallies import Tallies
from drumbeat.backends.postgres.store.statements import AUDIT, RETENTION
from drumbeat.backends.postgres.store.time import checked, to_microseconds
from drumbeat.ports.store import At


class PostgresRetention:
    """Prunes in bounded steps."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = RETENTION.of(database.names)
        self._audit = AUDIT.of(database.names)
        self._tallies = Tallies(database)

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        moment = checked(at)
        await self._database.fetch(self._sql.forget_starts, moment)
        await self._tallies.compact()
        pruned, released = 0, limit
        while pruned < limit and released == limit:
            released = len(await self._database.fetch(self._sql.release_keys, moment, limit))
            pruned += await self._forget(self._sql.forget_jobs, older_than, limit - pruned, moment)
        return pruned

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        return await self._forget(self._sql.forget_ticks, older_than, limit, checked(at))

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        return await self._forget(self._sql.forget_nodes, older_than, limit, checked(at))

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        return await self._forget(self._audit.forget, older_than, limit, checked(at))

    async def _forget(self, statement: str, older_than: timedelta, limit: int, at: At) -> int:
        count = await self._database.fetch_value(statement, at, to_microseconds(older_than), limit)
        return int(count)
