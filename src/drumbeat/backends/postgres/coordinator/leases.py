"""Leases: the PostgreSQL coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

from drumbeat.backends.hint_waiter import ChangeHints
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Statements
from drumbeat.backends.postgres.coordinator.news import CoordinatorWaiter, News
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId

SQL = Statements("drumbeat.backends.postgres.coordinator.statements", "leases.sql")
TIDY_EVERY = 100
"""Terms after which rows of names that nobody asks for any more are cleared away."""


class PostgresLeases:
    """One term at a time for each name."""

    def __init__(self, database: Database, waiter: CoordinatorWaiter) -> None:
        self._database = database
        self._waiter = waiter
        self._sql = SQL.of(database.names)

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant."""
        row = await self._database.fetch_row(self._sql.acquire, name, candidate, ttl)
        if row is None:
            return None
        if row["token"] % TIDY_EVERY == 0:
            with suppress(Unavailable):  # the term was granted, whatever becomes of the others
                await self._database.fetch(self._sql.forget_ended)
        return Lease(name, candidate, row["domain"], row["token"], ttl)

    async def renew(self, lease: Lease) -> Lease | None:
        """Lengthen this very term."""
        return lease if await self._on_this_term(self._sql.renew, lease) else None

    async def release(self, lease: Lease) -> bool:
        """End this very term, and wake those who wait."""
        return await self._on_this_term(self._sql.release, lease)

    async def current(self, name: str) -> Lease | None:
        """The live term of the name."""
        row = await self._database.fetch_row(self._sql.current, name)
        if row is None:
            return None
        return Lease(name, NodeId(row["holder"]), row["domain"], row["token"], row["ttl"])

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint for each time that the name is found vacant, at once if it is so now."""
        return ChangeHints(self._waiter, News.LEASES, lambda: self.vacancy(name))

    async def vacancy(self, name: str) -> tuple[int | None, timedelta | None]:
        """The number of the vacancy that the name has now; or None, and how long its term lasts."""
        row = await self._database.fetch_row(self._sql.vacancy, name)
        if row is None:
            return 0, None
        return (row["token"], None) if row["remaining"] is None else (None, row["remaining"])

    async def _on_this_term(self, text: str, lease: Lease) -> bool:
        return bool(
            await self._database.fetch(text, lease.name, lease.holder, lease.token, lease.domain)
        )
