"""Schedules: the SQLite store's `ScheduleStore`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.instant import aware
from drumbeat.model.lease import Epoch
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import (
    AlreadyFired,
    Backfilled,
    Committed,
    Edit,
    Fire,
    Plan,
    Raced,
    TickRecord,
    Written,
)
from drumbeat.model.schedule import Due, Found, Revision, StoredSchedule
from drumbeat.model.swift import swift
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.paging import place, place_after
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_instant, to_number
from drumbeat.stores.sqlite.commits import Commit, backfill, leader_of, put
from drumbeat.stores.sqlite.creating import check_times
from drumbeat.stores.sqlite.definitions import due_of, stored_of
from drumbeat.stores.sqlite.ledger import Signature, page_of, place_before, tick_of
from drumbeat.stores.sqlite.moment import check_at, moment
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import SCHEDULES

new_revision = swift(Revision)


class SqliteSchedules:
    """Schedules, their cursors and the ledger of their ticks."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        """The schedules of these names."""
        now = moment(self._clock, at)

        def question(connection: sqlite3.Connection) -> Found:
            rows = connection.execute(SCHEDULES.by_names, (json.dumps(list(names)),))
            found = {row[0]: stored_of(row) for row in rows}
            return Found(tuple(found.get(name) for name in names), now.instant)

        return await self._database.read(question)

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        """All schedules whose name has the prefix, by name."""
        bounds = {
            "prefix": prefix,
            "after": place_after(page, "schedule") or "",
            "end": _after_all_with(prefix),
            "limit": page.size + 1,
        }

        def question(connection: sqlite3.Connection) -> Page[StoredSchedule]:
            rows = connection.execute(SCHEDULES.from_name, bounds).fetchall()
            items = tuple(stored_of(row) for row in rows[: page.size])
            more = len(rows) > page.size
            return Page(items, place("schedule", items[-1].name) if more else None)

        return await self._database.view(question)

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        """Apply each edit whose `before` still stands, with its skips."""
        check_at(at)
        return await self._database.write(lambda session: put(session, edits, session.moment(at)))

    async def due(self, limit: int, at: At = None) -> Due:
        """Schedules whose next tick has come, the longest overdue first."""
        now = moment(self._clock, at)

        def question(connection: sqlite3.Connection) -> Due:
            rows = connection.execute(SCHEDULES.due, (now.number, limit + 1)).fetchall()
            if len(rows) > limit:
                following = rows.pop()[4]
            else:
                found = connection.execute(SCHEDULES.next_tick, (now.number,)).fetchone()
                following = found[0] if found else None
            schedules = tuple(due_of(row) for row in rows)
            next_at = None if following is None else to_instant(following)
            return Due(schedules, now.instant, next_at)

        return await self._database.read(question)

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        """Write each plan whole, if the epoch holds the fence and its schedule still stands."""
        check_at(at)
        for plan in plans:
            check_times([fire.job for fire in plan.fires])

        def step(session: StoreSession) -> list[Committed | Raced]:
            leader = leader_of(session, epoch)
            signature = Signature(session.moment(at), leader, epoch.number)
            return Commit(session, signature).run(plans) if plans else []

        return await self._database.write(step)

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        """Fire past ticks by hand; `UnknownSchedule` if there is none of that name."""
        check_at(at)
        check_times([fire.job for fire in fires])
        return await self._database.write(
            lambda session: backfill(session, name, fires, session.moment(at))
        )

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        """The ledger of a schedule, latest tick first."""
        before = place_before(page)

        def question(connection: sqlite3.Connection) -> Page[TickRecord]:
            rows = connection.execute(SCHEDULES.ticks, (name, *before, page.size + 1)).fetchall()
            return page_of(rows, page.size)

        return await self._database.view(question)

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        """The last rows of all ledgers, those recorded last first."""
        place = (to_number(aware("since", since)), limit)
        return await self._database.view(
            lambda connection: [
                tick_of(row) for row in connection.execute(SCHEDULES.recorded, place)
            ]
        )

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        """How schedules were changed last, by name."""
        return await self._database.view(
            lambda connection: [
                new_revision(name, version, to_instant(updated_at), bool(paused), reason)
                for name, version, updated_at, paused, reason in connection.execute(
                    SCHEDULES.revisions, (after, limit)
                )
            ]
        )


def _after_all_with(prefix: str) -> str | None:
    """The first text, as SQLite orders them, after all that have the prefix; None: there is none.

    Texts are ordered by their bytes, and UTF-8 orders as the code points do.
    """
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            # The codes between are no characters, and cannot be written.
            return prefix[:-1] + chr(0xE000 if last + 1 == 0xD800 else last + 1)
        prefix = prefix[:-1]
    return None
