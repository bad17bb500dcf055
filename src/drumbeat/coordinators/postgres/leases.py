"""Leases: the PostgreSQL coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

from drumbeat.coordinators.postgres.news import News, NewsBell
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.postgres.database import Database
from drumbeat.postgres.statements import Statements

SQL = Statements("drumbeat.coordinators.postgres.statements", "leases.sql")
TIDY_EVERY = 100
"""Terms after which rows of names that nobody asks for any more are cleared away."""


class PostgresLeases:
    """One term at a time for each name."""

    def __init__(self, database: Database, bell: NewsBell) -> None:
        self._database = database
        self._bell = bell
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
        return _Vacancies(self, self._bell, name)

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


class _Vacancies:
    """Waits only while it is asked, and so leaves nothing behind when nobody asks any more."""

    def __init__(self, leases: PostgresLeases, bell: NewsBell, name: str) -> None:
        self._leases = leases
        self._bell = bell
        self._name = name
        self._told: int | None = None
        self._remaining: timedelta | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._bell.wait_for(News.LEASES, self._untold, lambda: self._remaining)

    async def _untold(self) -> int | None:
        vacancy, self._remaining = await self._leases.vacancy(self._name)
        return None if vacancy == self._told else vacancy
