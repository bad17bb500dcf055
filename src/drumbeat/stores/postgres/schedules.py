"""Schedules: the PostgreSQL store's `ScheduleStore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.errors import StaleEpoch, UnknownSchedule
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
from drumbeat.ports.store import At
from drumbeat.postgres.database import Database
from drumbeat.rules.paging import place, place_after
from drumbeat.stores.postgres.commits import Edits, Plans
from drumbeat.stores.postgres.definitions import due_of, stored_of
from drumbeat.stores.postgres.instants import checked
from drumbeat.stores.postgres.ledger import page_of, place_before, tick_of
from drumbeat.stores.postgres.specs import Specs
from drumbeat.stores.postgres.sql import SCHEDULES

new_revision = swift(Revision)


class PostgresSchedules:
    """Schedules, their cursors and the ledger of their ticks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = SCHEDULES.of(database.names)

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        """The schedules of these names."""
        rows = [
            tuple(row)
            for row in await self._database.fetch(self._sql.by_names, list(names), checked(at))
        ]
        found = {row[1]: stored_of(row[1:]) for row in rows if row[1] is not None}
        return Found(tuple(found.get(name) for name in names), rows[0][0])

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        """All schedules whose name has the prefix, by name."""
        after = place_after(page, "schedule") or ""
        rows = await self._database.fetch(
            self._sql.from_name, prefix, after, _after_all_with(prefix), page.size + 1
        )
        items = tuple(stored_of(tuple(row)) for row in rows[: page.size])
        more = len(rows) > page.size
        return Page(items, place("schedule", items[-1].name) if more else None)

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        """Apply each edit whose `before` still stands, with its skips."""
        if not edits:
            return []
        batch = Edits(edits)
        stands = await self._database.fetch_value(self._sql.put, *batch.arrays, checked(at))
        written = dict(zip(batch.order, stands, strict=True))
        return [
            Written(edit.name) if written[index] else Raced(edit.name)
            for index, edit in enumerate(edits)
        ]

    async def due(self, limit: int, at: At = None) -> Due:
        """Schedules whose next tick has come, the longest overdue first."""
        rows = [tuple(row) for row in await self._database.fetch(self._sql.due, checked(at), limit)]
        as_of = rows[0][0]
        found = [row[1:] for row in rows if row[1] is not None]
        due = [row for row in found if row[4] <= as_of][:limit]
        next_at = found[len(due)][4] if len(found) > len(due) else None
        return Due(tuple(due_of(row) for row in due), as_of, next_at)

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        """Write each plan whole, if the epoch holds the fence and its schedule still stands."""
        batch = Plans(plans)
        ((seen, written, ids),) = await self._database.fetch(
            self._sql.commit, epoch.election, epoch.number, *batch.arrays, checked(at)
        )
        if seen is not None:
            raise StaleEpoch(ours=epoch.number, seen=seen)
        return batch.verdicts(written, ids)

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        """Fire past ticks by hand; `UnknownSchedule` if there is none of that name."""
        arrays = Specs([fire.job for fire in fires]).arrays
        ids = await self._database.fetch_value(
            self._sql.backfill, name, [fire.tick_at for fire in fires], *arrays, checked(at)
        )
        if ids is None:
            raise UnknownSchedule(name)
        return [
            AlreadyFired(fire.tick_at) if job_id is None else Backfilled(fire.tick_at, job_id)
            for fire, job_id in zip(fires, ids, strict=True)
        ]

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        """The ledger of a schedule, latest tick first."""
        rows = await self._database.fetch(self._sql.ticks, name, *place_before(page), page.size + 1)
        return page_of(rows, page.size)

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        """The last rows of all ledgers, those recorded last first."""
        rows = await self._database.fetch(self._sql.recorded, aware("since", since), limit)
        return [tick_of(row) for row in rows]

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        """How schedules were changed last, by name."""
        rows = await self._database.fetch(self._sql.revisions, after, limit)
        return [new_revision(*row) for row in rows]


def _after_all_with(prefix: str) -> str | None:
    """The first text, by the order of bytes, after all that have the prefix; None: there is none.

    UTF-8 orders as the code points do.
    """
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            # The codes between are no characters, and cannot be written.
            return prefix[:-1] + chr(0xE000 if last + 1 == 0xD800 else last + 1)
        prefix = prefix[:-1]
    return None
