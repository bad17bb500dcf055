"""Schedules: the PostgreSQL store's `ScheduleStore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.jobs.new_jobs import JobBatch
from drumbeat.backends.postgres.store.schedules.edit_batch import EditBatch
from drumbeat.backends.postgres.store.schedules.ledger import (
    TickRow,
    page_of,
    place_before,
    tick_of,
)
from drumbeat.backends.postgres.store.schedules.plan_batch import PlanBatch
from drumbeat.backends.postgres.store.schedules.schedule_row import (
    PreviousRow,
    ScheduleRow,
    due_of,
    stored_of,
)
from drumbeat.backends.postgres.store.statements import SCHEDULES
from drumbeat.backends.postgres.store.time import checked
from drumbeat.backends.sql.name_prefix import prefix_end
from drumbeat.model.errors import StaleEpoch, UnknownSchedule
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules import plan
from drumbeat.model.schedules.schedule import Due, DueSchedule, Found, Revision, StoredSchedule
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import NO_TIME, At
from drumbeat.rules.page_position import place, place_after

SCHEDULE_COLUMNS = len(ScheduleRow._fields)

new_revision = fast_constructor(Revision)


class PostgresSchedules:
    """Schedules, their cursors and the ledger of their ticks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = SCHEDULES.of(database.names)

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        rows = await self._database.fetch(self._sql.by_names, list(names), checked(at))
        found = [ScheduleRow(*columns) for _, *columns in rows if rows[0]["name"] is not None]
        stored = {row.name: stored_of(row) for row in found}
        return Found(tuple(stored.get(name) for name in names), rows[0]["as_of"])

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        after = place_after(page, "schedule") or ""
        rows = await self._database.fetch(
            self._sql.from_name, prefix, after, prefix_end(prefix), page.size + 1
        )
        items = tuple(stored_of(ScheduleRow(*row)) for row in rows[: page.size])
        more = len(rows) > page.size
        return Page(items, place("schedule", items[-1].name) if more else None)

    async def put(
        self, edits: Sequence[plan.Edit], at: At = None
    ) -> Sequence[plan.Written | plan.Raced]:
        if not edits:
            return []
        batch = EditBatch(edits)
        applied = await self._database.fetch_value(self._sql.put, batch.text, checked(at))
        return batch.verdicts(applied)

    async def due(self, limit: int, at: At = None, *, ahead: timedelta = NO_TIME) -> Due:
        rows = await self._database.fetch(self._sql.due, checked(at), limit, ahead)
        as_of = rows[0]["as_of"]
        until = as_of + ahead
        due: list[DueSchedule] = []
        for _, *columns in rows:
            row = ScheduleRow(*columns[:SCHEDULE_COLUMNS])
            if row.next_tick is None:  # the one row that only tells the time
                break
            if row.next_tick > until or len(due) == limit:
                return Due(tuple(due), as_of, row.next_tick)
            due.append(due_of(row, PreviousRow(*columns[SCHEDULE_COLUMNS:])))
        return Due(tuple(due), as_of, None)

    async def commit(
        self, plans: Sequence[plan.Plan], epoch: Epoch, at: At = None
    ) -> Sequence[plan.Committed | plan.Raced]:
        batch = PlanBatch(plans)
        ((seen, written, ids),) = await self._database.fetch(
            self._sql.commit, epoch.election, epoch.number, *batch.values, checked(at)
        )
        if seen is not None:
            raise StaleEpoch(ours=epoch.number, seen=seen)
        return batch.verdicts(written, ids)

    async def backfill(
        self, name: str, fires: Sequence[plan.Fire], at: At = None
    ) -> Sequence[plan.Backfilled | plan.AlreadyFired]:
        ids = await self._database.fetch_value(
            self._sql.backfill,
            name,
            [fire.tick_at for fire in fires],
            JobBatch([fire.job for fire in fires]).new_jobs,
            checked(at),
        )
        if ids is None:
            raise UnknownSchedule(name)
        return [
            plan.AlreadyFired(fire.tick_at)
            if job_id is None
            else plan.Backfilled(fire.tick_at, job_id)
            for fire, job_id in zip(fires, ids, strict=True)
        ]

    async def ticks(self, name: str, page: PageRequest) -> Page[plan.TickRecord]:
        rows = await self._database.fetch(self._sql.ticks, name, *place_before(page), page.size + 1)
        return page_of([TickRow(*row) for row in rows], page.size)

    async def recorded(self, since: datetime, limit: int) -> Sequence[plan.TickRecord]:
        rows = await self._database.fetch(self._sql.recorded, aware("since", since), limit)
        return [tick_of(TickRow(*row)) for row in rows]

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        rows = await self._database.fetch(self._sql.revisions, after, limit)
        return [new_revision(*row) for row in rows]
