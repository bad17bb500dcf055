"""Leases: the SQLite coordinator's terms of elections and locks."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.sqlite.machine import Machine
from drumbeat.coordinators.sqlite.session import CoordinatorSession
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_length, to_microseconds
from drumbeat.sqlite.migrating import domain_of
from drumbeat.sqlite.news import LEASES
from drumbeat.sqlite.statements import Statements

SQL = Statements("drumbeat.coordinators.sqlite.statements", "leases.sql")
TIDY_EVERY = 100
"""Terms after which those that ran out are cleared away."""


class SqliteLeases:
    """One term at a time for each name."""

    def __init__(
        self, database: Database[CoordinatorSession], machine: Machine, bell: Bell[int]
    ) -> None:
        self._database = database
        self._machine = machine
        self._bell = bell

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant."""
        if await self.current(name) is not None:
            return None  # followers ask often: they must not hold up those who write
        return await self._database.write(
            lambda session: self._acquire(session, name, candidate, ttl)
        )

    async def renew(self, lease: Lease) -> Lease | None:
        """Lengthen this very term."""
        return await self._database.write(lambda session: self._renew(session, lease))

    async def release(self, lease: Lease) -> bool:
        """End this very term, and wake those who wait."""
        return await self._database.write(lambda session: self._release(session, lease))

    async def current(self, name: str) -> Lease | None:
        """The live term of the name."""
        return await self._database.read(lambda connection: self._live(connection, name)[0])

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint for each time that the name is found vacant, at once if it is so now."""
        return _Vacancies(self, self._machine, self._bell, name)

    async def vacancy(self, name: str) -> tuple[int | None, int | None]:
        """The number of the vacancy that the name has now; or None, and when its term runs out."""

        def question(connection: sqlite3.Connection) -> tuple[int | None, int | None]:
            lease, ends_at = self._live(connection, name)
            if lease is not None:
                return None, ends_at
            (token,) = connection.execute(SQL.last_token).fetchone()
            return int(token), None

        return await self._database.read(question)

    def _live(self, connection: sqlite3.Connection, name: str) -> tuple[Lease | None, int | None]:
        row = connection.execute(SQL.current, {"name": name, **self._machine.bounds()}).fetchone()
        if row is None:
            return None, None
        holder, token, ttl, ends_at = row
        lease = Lease(name, NodeId(holder), domain_of(connection), token, to_length(ttl))
        return lease, ends_at

    def _acquire(
        self, session: CoordinatorSession, name: str, candidate: NodeId, ttl: timedelta
    ) -> Lease | None:
        bounds = self._machine.bounds()
        length = to_microseconds(ttl)
        values = {
            **bounds,
            "name": name,
            "holder": candidate,
            "ttl": length,
            "ends_at": self._machine.now() + length,
        }
        granted = session.execute(SQL.acquire, values).fetchall()
        if not granted:
            return None
        ((token,),) = granted
        session.execute(SQL.keep_token, (token,))
        if token % TIDY_EVERY == 0:
            session.execute(SQL.forget_ended, bounds)
        session.news |= LEASES  # those who wait set their alarm by the new term
        return Lease(name, candidate, domain_of(session.connection), token, ttl)

    def _renew(self, session: CoordinatorSession, lease: Lease) -> Lease | None:
        if lease.domain != domain_of(session.connection):
            return None
        renewed = session.execute(SQL.renew, self._this_term(lease)).fetchall()
        return lease if renewed else None

    def _release(self, session: CoordinatorSession, lease: Lease) -> bool:
        if lease.domain != domain_of(session.connection):
            return False
        released = session.execute(SQL.release, self._this_term(lease)).fetchall()
        if released:
            session.news |= LEASES
        return bool(released)

    def _this_term(self, lease: Lease) -> dict[str, int | str]:
        return {
            **self._machine.bounds(),
            "name": lease.name,
            "holder": lease.holder,
            "token": lease.token,
        }


class _Vacancies:
    """Waits only while it is asked, and so leaves nothing behind when nobody asks any more."""

    def __init__(self, leases: SqliteLeases, machine: Machine, bell: Bell[int], name: str) -> None:
        self._leases = leases
        self._machine = machine
        self._bell = bell
        self._name = name
        self._told: int | None = None
        self._ends_at: int | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._bell.wait_for(
            LEASES, self._untold, lambda: self._machine.left(self._ends_at)
        )

    async def _untold(self) -> int | None:
        vacancy, self._ends_at = await self._leases.vacancy(self._name)
        return None if vacancy == self._told else vacancy
