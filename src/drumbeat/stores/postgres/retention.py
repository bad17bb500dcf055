"""Retention: the PostgreSQL store's forgetting."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.ports.store import At
from drumbeat.postgres.database import Database
from drumbeat.stores.postgres.instants import checked
from drumbeat.stores.postgres.lengths import to_microseconds
from drumbeat.stores.postgres.sql import AUDIT, JOBS, RETENTION


class PostgresRetention:
    """Forgetting, in bounded steps."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = RETENTION.of(database.names)
        self._audit = AUDIT.of(database.names)
        self._fold = JOBS.of(database.names).fold_tallies

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget jobs that ended so long ago, and whose dedupe key stands for nothing any more."""
        moment = checked(at)
        await self._database.fetch(self._sql.forget_starts, moment)
        await self._database.fetch(self._sql.forget_paces, moment)
        await self._database.fetch(self._fold)
        pruned, released = 0, limit
        while pruned < limit and released == limit:
            released = len(await self._database.fetch(self._sql.release_keys, moment, limit))
            pruned += await self._forget(self._sql.forget_jobs, older_than, limit - pruned, moment)
        return pruned

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget ledger rows of that age, but never the last row of a schedule."""
        return await self._forget(self._sql.forget_ticks, older_than, limit, checked(at))

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget nodes whose heartbeat ended so long ago."""
        return await self._forget(self._sql.forget_nodes, older_than, limit, checked(at))

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget entries of the audit log of that age, the oldest first."""
        return await self._forget(self._audit.forget, older_than, limit, checked(at))

    async def _forget(self, statement: str, older_than: timedelta, limit: int, at: At) -> int:
        count = await self._database.fetch_value(statement, at, to_microseconds(older_than), limit)
        return int(count)
