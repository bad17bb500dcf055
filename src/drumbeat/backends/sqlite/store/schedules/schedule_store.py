"""The SQLite store's `ScheduleStore`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import starmap

from drumbeat.backends.sql.name_prefix import prefix_end
from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import (
    moment,
    to_instant,
    to_instant_or_none,
    to_number,
)
from drumbeat.backends.sqlite.store.schedules.commit import Commit, backfill, leader_of, put
from drumbeat.backends.sqlite.store.schedules.ledger import (
    Signature,
    TickRow,
    place_before,
    tick_of,
)
from drumbeat.backends.sqlite.store.schedules.rows import ScheduleRow, due_of, stored_of
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import SCHEDULES
from drumbeat.backends.store_rules import check_times, page_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import (
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
from drumbeat.model.schedules.schedule import Due, Found, Revision, StoredSchedule
from drumbeat.model.time.instant import aware
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import NO_TIME, At
from drumbeat.rules.page_position import place_after

new_revision = fast_constructor(Revision)


class SqliteSchedules:
    """Schedules, their cursors and the ledger of their ticks."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        now = moment(self._clock, at)

        def question(connection: sqlite3.Connection) -> Found:
            rows = connection.execute(SCHEDULES.by_names, (json.dumps(list(names)),))
            found = {row.name: stored_of(row) for row in starmap(ScheduleRow, rows)}
            return Found(tuple(found.get(name) for name in names), now.instant)

        return await self._database.read(question)

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        bounds = {
            "prefix": prefix,
            "after": place_after(page, "schedule") or "",
            "end": prefix_end(prefix),
            "limit": page.size + 1,
        }

        def question(connection: sqlite3.Connection) -> Page[StoredSchedule]:
            rows = connection.execute(SCHEDULES.from_name, bounds)
            items = map(stored_of, starmap(ScheduleRow, rows))
            return page_of(items, page.size, "schedule", lambda stored: stored.name)

        return await self._database.view(question)

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        return await self._database.write(lambda session: put(session, edits, session.moment(at)))

    async def due(self, limit: int, at: At = None, *, ahead: timedelta = NO_TIME) -> Due:
        now = moment(self._clock, at)
        until = to_number(now.instant + ahead)

        def question(connection: sqlite3.Connection) -> Due:
            found = connection.execute(SCHEDULES.due, (until, limit + 1))
            rows = list(starmap(ScheduleRow, found))
            if len(rows) > limit:
                following = rows.pop().next_tick
            else:
                after = connection.execute(SCHEDULES.next_tick, (until,)).fetchone()
                following = after[0] if after else None
            return Due(tuple(map(due_of, rows)), now.instant, to_instant_or_none(following))

        return await self._database.read(question)

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        for plan in plans:
            check_times([fire.job for fire in plan.fires])

        def step(session: StoreSession) -> list[Committed | Raced]:
            leader = leader_of(session, epoch)
            signature = Signature(session.moment(at), leader, epoch.number)
            return Commit(session, signature).run(plans) if plans else []

        # What is fired here runs only after a claim, which is on the disk together with this. But
        # a submission may be answered with a job that has the same dedupe key.
        keyed = any(fire.job.dedupe_key is not None for plan in plans for fire in plan.fires)
        write = self._database.write if keyed else self._database.write_unsynced
        return await write(step)

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        check_times([fire.job for fire in fires])
        return await self._database.write(
            lambda session: backfill(session, name, fires, session.moment(at))
        )

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        before = place_before(page)

        def question(connection: sqlite3.Connection) -> Page[TickRecord]:
            rows = connection.execute(SCHEDULES.ticks, (name, *before, page.size + 1))
            found = page_of(starmap(TickRow, rows), page.size, "tick", TickRow.place)
            return Page(tuple(map(tick_of, found.items)), found.next)

        return await self._database.view(question)

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        place = (to_number(aware("since", since)), limit)
        return await self._database.view(
            lambda connection: [
                tick_of(TickRow._make(row)) for row in connection.execute(SCHEDULES.recorded, place)
            ]
        )

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        return await self._database.view(
            lambda connection: [
                new_revision(name, version, to_instant(updated_at), bool(paused), reason)
                for name, version, updated_at, paused, reason in connection.execute(
                    SCHEDULES.revisions, (after, limit)
                )
            ]
        )
