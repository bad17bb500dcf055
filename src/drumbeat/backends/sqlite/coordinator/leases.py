"""Leases: the SQLite coordinator's terms of elections and locks."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.hints.topics import LEASES
from drumbeat.backends.sqlite.connection.session import Session
from drumbeat.backends.sqlite.connection.statements import Statements
from drumbeat.backends.sqlite.connection.times import to_duration, to_microseconds
from drumbeat.backends.sqlite.coordinator.machine import Machine
from drumbeat.backends.sqlite.schema.migration import domain_of
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId

SQL = Statements("drumbeat.backends.sqlite.coordinator.statements", "leases.sql")
TIDY_EVERY = 100
"""Terms after which those that ran out are cleared away."""


class SqliteLeases:
    """One term at a time for each name."""

    def __init__(
        self, database: Database[Session], machine: Machine, waiter: HintWaiter[int]
    ) -> None:
        self._database = database
        self._machine = machine
        self._waiter = waiter

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if await self.current(name) is not None:
            return None  # followers ask often: they must not hold up those who write
        return await self._database.write(
            lambda session: self._acquire(session, name, candidate, ttl)
        )

    async def renew(self, lease: Lease) -> Lease | None:
        return await self._database.write(lambda session: self._renew(session, lease))

    async def release(self, lease: Lease) -> bool:
        return await self._database.write(lambda session: self._release(session, lease))

    async def evict(self, lease: Lease) -> bool:
        return await self.release(lease)  # which compares the term, no matter who asks

    async def current(self, name: str) -> Lease | None:
        return await self._database.read(lambda connection: self._live(connection, name)[0])

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, LEASES, lambda: self.vacancy(name))

    async def vacancy(self, name: str) -> tuple[int | None, timedelta | None]:
        def question(connection: sqlite3.Connection) -> tuple[int | None, int | None]:
            lease, ends_at = self._live(connection, name)
            if lease is not None:
                return None, ends_at
            (token,) = connection.execute(SQL.last_token).fetchone()
            return int(token), None

        vacancy, ends_at = await self._database.read(question)
        return vacancy, self._machine.left(ends_at)

    def _live(self, connection: sqlite3.Connection, name: str) -> tuple[Lease | None, int | None]:
        row = connection.execute(SQL.current, {"name": name, **self._machine.bounds()}).fetchone()
        if row is None:
            return None, None
        holder, token, ttl, ends_at = row
        lease = Lease(name, NodeId(holder), domain_of(connection), token, to_duration(ttl))
        return lease, ends_at

    def _acquire(
        self, session: Session, name: str, candidate: NodeId, ttl: timedelta
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
        session.execute(SQL.save_token, (token,))
        if token % TIDY_EVERY == 0:
            session.execute(SQL.delete_ended, bounds)
        session.hints |= LEASES  # those who wait set their alarm by the new term
        return Lease(name, candidate, domain_of(session.connection), token, ttl)

    def _renew(self, session: Session, lease: Lease) -> Lease | None:
        if lease.domain != domain_of(session.connection):
            return None
        renewed = session.execute(SQL.renew, self._this_term(lease)).fetchall()
        return lease if renewed else None

    def _release(self, session: Session, lease: Lease) -> bool:
        if lease.domain != domain_of(session.connection):
            return False
        released = session.execute(SQL.release, self._this_term(lease)).fetchall()
        if released:
            session.hints |= LEASES
        return bool(released)

    def _this_term(self, lease: Lease) -> dict[str, int | str]:
        return {
            **self._machine.bounds(),
            "name": lease.name,
            "holder": lease.holder,
            "token": lease.token,
        }
