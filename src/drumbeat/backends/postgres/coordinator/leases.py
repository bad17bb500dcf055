"""PostgresLeases: the terms of elections and locks, in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Statements
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId

SQL = Statements("drumbeat.backends.postgres.coordinator.statements", "leases.sql")
TIDY_EVERY = 100
"""One term in so many also deletes the rows of names that are not used any more."""


class PostgresLeases:
    """One term at a time for each name."""

    def __init__(self, database: Database, waiter: HintWaiter[str]) -> None:
        self._database = database
        self._waiter = waiter
        self._sql = SQL.of(database.names)

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        row = await self._database.fetch_row(self._sql.acquire, name, candidate, ttl)
        if row is None:
            return None
        if row["token"] % TIDY_EVERY == 0:
            with suppress(Unavailable):  # the term was granted in any case
                await self._database.fetch(self._sql.forget_ended)
        return Lease(name, candidate, row["domain"], row["token"], ttl)

    async def renew(self, lease: Lease) -> Lease | None:
        return lease if await self._on_this_term(self._sql.renew, lease) else None

    async def release(self, lease: Lease) -> bool:
        return await self._on_this_term(self._sql.release, lease)

    async def evict(self, lease: Lease) -> bool:
        return await self.release(lease)  # which compares the term, no matter who asks

    async def current(self, name: str) -> Lease | None:
        row = await self._database.fetch_row(self._sql.current, name)
        if row is None:
            return None
        return Lease(name, NodeId(row["holder"]), row["domain"], row["token"], row["ttl"])

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, "leases", lambda: self.vacancy(name))

    async def vacancy(self, name: str) -> tuple[int | None, timedelta | None]:
        """The number of the present vacancy; or None, and the rest of the term."""
        row = await self._database.fetch_row(self._sql.vacancy, name)
        if row is None:
            return 0, None
        return (row["token"], None) if row["remaining"] is None else (None, row["remaining"])

    async def _on_this_term(self, text: str, lease: Lease) -> bool:
        return bool(
            await self._database.fetch(text, lease.name, lease.holder, lease.token, lease.domain)
        )
