"""The MongoDB store's `ScheduleStore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions
from drumbeat.backends.mongo.store.fence import holder_by
from drumbeat.backends.mongo.store.jobs.job_document import VISIBLE as VISIBLE_JOBS
from drumbeat.backends.mongo.store.jobs.settlement import rounds
from drumbeat.backends.mongo.store.schedules import ledger
from drumbeat.backends.mongo.store.schedules.backfill import backfill
from drumbeat.backends.mongo.store.schedules.commit import Commit
from drumbeat.backends.mongo.store.schedules.edits import Edits
from drumbeat.backends.mongo.store.schedules.schedule_document import revision_of, stored_of
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.times import given, length, to_instant, to_instant_or_none
from drumbeat.backends.store_rules import check_times, page_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Status
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
from drumbeat.model.schedules.schedule import (
    Due,
    DueSchedule,
    Found,
    Previous,
    Revision,
    StoredSchedule,
)
from drumbeat.ports.store import NO_TIME, At, Topic
from drumbeat.rules.page_position import place_after

VISIBLE: Document = {"absent": None}
LAST = "\U0010ffff"
"""The last character of all."""

new_due = fast_constructor(DueSchedule)


class MongoSchedules:
    """Schedules, their cursors and the ledger of their ticks."""

    def __init__(self, session: Session, decisions: Decisions) -> None:
        self._session = session
        self._decisions = decisions

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            wanted = {"_id": {"$in": list(names)}, **VISIBLE}
            found = collections["schedules"].find(wanted)
            known = {each["_id"]: stored_of(each) async for each in found}
            return Found(tuple(known.get(name) for name in names), to_instant(now))

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        after = place_after(page, "schedule")
        async with self._session.calls() as collections:
            names: Document = {"$gte": prefix, "$lte": prefix + LAST}
            if after is not None:
                names["$gt"] = after
            found = collections["schedules"].find({"_id": names, **VISIBLE})
            some = found.sort([("_id", 1)]).limit(page.size + 1)
            schedules = [stored_of(each) async for each in some]
        return page_of(schedules, page.size, "schedule", lambda stored: stored.name)

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        verdicts: dict[int, Written | Raced] = {}
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            for places in rounds(range(len(edits)), lambda place: edits[place].name):
                some = [edits[place] for place in places]
                done = await Edits(collections, self._decisions, now).run(some)
                verdicts |= dict(zip(places, done, strict=True))
        self._session.signals.send(Topic.TIMES)
        return [verdicts[place] for place in range(len(edits))]

    async def due(self, limit: int, at: At = None, *, ahead: timedelta = NO_TIME) -> Due:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            ticking = {"next_tick": {"$gt": -(2**62)}, **VISIBLE}
            found = collections["schedules"].find(ticking).sort([("next_tick", 1), ("_id", 1)])
            documents = await found.limit(limit + 1).to_list()
            until = now + length(ahead)
            due = [each for each in documents if each["next_tick"] <= until][:limit]
            previous = await _previous(collections, due)
        later = documents[len(due)]["next_tick"] if len(documents) > len(due) else None
        schedules = tuple(new_due(stored_of(each), previous.get(each["last_job"])) for each in due)
        return Due(schedules, to_instant(now), to_instant_or_none(later))

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        verdicts: dict[int, Committed | Raced] = {}
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            if not plans:
                await holder_by(collections, epoch)
            for plan in plans:
                check_times([fire.job for fire in plan.fires])
            for places in rounds(range(len(plans)), lambda place: plans[place].name):
                some = [plans[place] for place in places]
                done = await Commit(collections, self._decisions, epoch, now).run(some)
                verdicts |= {place: done[plans[place].name] for place in places}
        if any(isinstance(each, Committed) and each.jobs for each in verdicts.values()):
            self._session.signals.send(Topic.JOBS, Topic.TIMES)
        if any(plan.cancels for plan in plans):
            self._session.signals.send(Topic.CANCELLATIONS, Topic.FINISHED)
        return [verdicts[place] for place in range(len(plans))]

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            check_times([fire.job for fire in fires])
            verdicts = await backfill(collections, self._decisions, name, fires, now)
        self._session.signals.send(Topic.JOBS, Topic.TIMES)
        return verdicts

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        async with self._session.calls() as collections:
            return await ledger.ticks_page(collections, name, page)

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        number = given("since", since)
        async with self._session.calls() as collections:
            return await ledger.recorded(collections, number, limit)

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        fields = ("version", "updated_at", "paused", "pause_reason")
        async with self._session.calls() as collections:
            wanted = {"_id": {"$gt": after}, **VISIBLE}
            found = collections["schedules"].find(wanted, dict.fromkeys(fields, 1))
            return [revision_of(each) async for each in found.sort([("_id", 1)]).limit(limit)]


async def _previous(
    collections: Collections, schedules: Sequence[Document]
) -> dict[int | None, Previous]:
    """The jobs of the last ticks, without those that were pruned."""
    ids = [each["last_job"] for each in schedules if each["last_job"] is not None]
    if not ids:
        return {}
    wanted = {"_id": {"$in": ids}, **VISIBLE_JOBS}
    found = collections["jobs"].find(wanted, {"status": 1, "finished_at": 1})
    return {
        each["_id"]: Previous(
            JobId(each["_id"]),
            Status(each["status"]),
            to_instant_or_none(each.get("finished_at")),
        )
        async for each in found
    }
