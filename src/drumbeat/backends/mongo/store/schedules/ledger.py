"""The ledger: what became of each tick.

A fired tick has one row, since its `_id` is made of the schedule and the tick. A row that carries a
decision is prepared, and nobody sees it yet; but it holds its tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bson import ObjectId
from pymongo.errors import BulkWriteError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.duplicates import refused_places
from drumbeat.backends.mongo.store.times import to_instant, to_length, to_number
from drumbeat.backends.store_rules import page_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import Fire, Outcome, Skip, SkipReason, TickRecord
from drumbeat.rules.page_position import no_place, place_after

FIRED = "fired"
VISIBLE = {"decision": None}
LOOK = 1_000
"""Old rows that pruning looks at at a time."""

new_tick = fast_constructor(TickRecord)


@dataclass(frozen=True, slots=True)
class Signature:
    """Who writes rows, and when."""

    recorded_at: int
    leader: str | None = None
    epoch: int | None = None
    backfilled: bool = False


def fired(schedule: str, tick_at: datetime, job_id: int, by: Signature) -> Document:
    tick = to_number(tick_at)
    row = _row(schedule, tick, FIRED, by)
    return {**row, "outcome": Outcome.FIRED.value, "through": tick, "count": 1, "job_id": job_id}


def skipped(schedule: str, skip: Skip, by: Signature) -> Document:
    return {
        **_row(schedule, to_number(skip.tick_at), str(ObjectId()), by),
        "outcome": Outcome.SKIPPED.value,
        "through": to_number(skip.through),
        "count": skip.count,
        "reason": skip.reason.value,
    }


async def prepare(
    collections: Collections, decision: ObjectId, rows: Iterable[Document]
) -> list[str]:
    """Insert rows that nobody sees; the `_id`s of those whose tick another row holds."""
    prepared: list[Document] = [{**each, "decision": decision} for each in rows]
    if not prepared:
        return []
    try:
        await collections["ticks"].insert_many(prepared, ordered=False)
    except BulkWriteError as error:
        return [prepared[place]["_id"] for place in refused_places(error)]
    return []


async def holders(collections: Collections, row_ids: Sequence[str]) -> list[ObjectId] | None:
    """The decisions that hold some of these ticks, perhaps no more; None: all have fired."""
    found = collections["ticks"].find({"_id": {"$in": list(row_ids)}}, {"decision": 1})
    decisions = [each.get("decision") async for each in found]
    if len(decisions) == len(row_ids) and not any(decisions):
        return None
    return [each for each in decisions if each is not None]


def once(fires: Sequence[Fire]) -> list[Fire]:
    """The first of the fires of each tick."""
    first: dict[datetime, Fire] = {}
    for fire in fires:
        first.setdefault(fire.tick_at, fire)
    return list(first.values())


async def ticks_page(
    collections: Collections, schedule: str, page: PageRequest
) -> Page[TickRecord]:
    """The rows of a schedule, latest tick first."""
    wanted: Document = {"schedule": schedule, **VISIBLE}
    after = _read_place(page)
    if after is not None:
        tick, kind = after
        wanted["$or"] = [{"tick_at": {"$lt": tick}}, {"tick_at": tick, "kind": {"$lt": kind}}]
    order = [("tick_at", -1), ("kind", -1)]
    found = collections["ticks"].find(wanted).sort(order).limit(page.size + 1)
    rows = await found.to_list()
    whole = page_of(rows, page.size, "tick", lambda row: f"{row['kind']}@{row['tick_at']}")
    return Page(tuple(map(record_of, whole.items)), whole.next)


async def recorded(collections: Collections, since: int, limit: int) -> list[TickRecord]:
    """The last rows of all schedules, those recorded last first."""
    if limit <= 0:
        return []
    wanted: Document = {"recorded_at": {"$gte": since}, **VISIBLE}
    order = [("recorded_at", -1), ("_id", -1)]
    found = collections["ticks"].find(wanted).sort(order).limit(limit)
    return [record_of(each) async for each in found]


async def prune(collections: Collections, recorded_before: int, limit: int) -> int:
    """Delete at most `limit` old rows, but never the last one of a schedule.

    A row that is not the last never becomes the last again, so it can be deleted any time later.
    """
    pruned = 0
    wanted: Document = {"recorded_at": {"$lte": recorded_before}, **VISIBLE}
    while pruned < limit:
        found = collections["ticks"].find(wanted, {"schedule": 1, "recorded_at": 1})
        rows = await found.sort([("recorded_at", 1), ("_id", 1)]).limit(LOOK).to_list()
        last = await _last_rows(collections, {each["schedule"] for each in rows})
        old = [each["_id"] for each in rows if each["_id"] not in last][: limit - pruned]
        if old:
            deleted = await collections["ticks"].delete_many({"_id": {"$in": old}})
            pruned += deleted.deleted_count
        if len(rows) < LOOK:
            break
        end = rows[-1]
        later = {"recorded_at": end["recorded_at"], "_id": {"$gt": end["_id"]}}
        window = {"$gt": end["recorded_at"], "$lte": recorded_before}
        wanted = {"$or": [later, {"recorded_at": window}], **VISIBLE}
    return pruned


async def _last_rows(collections: Collections, schedules: Iterable[str]) -> set[str]:
    """The `_id` of the last row of each schedule."""
    last: set[str] = set()
    for schedule in schedules:
        rows = collections["ticks"].find({"schedule": schedule, **VISIBLE}, {"_id": 1})
        found = rows.sort([("tick_at", -1), ("kind", -1)]).limit(1)
        last.update([each["_id"] async for each in found])
    return last


def record_of(document: Document) -> TickRecord:
    tick, recorded_at = document["tick_at"], document["recorded_at"]
    reason = document.get("reason")
    return new_tick(
        document["schedule"],
        to_instant(tick),
        Outcome(document["outcome"]),
        to_instant(recorded_at),
        to_length(recorded_at - tick),
        to_instant(document["through"]),
        document["count"],
        None if reason is None else SkipReason(reason),
        document.get("job_id"),
        document.get("leader"),
        document.get("epoch"),
        document.get("backfilled", False),
    )


def _row(schedule: str, tick: int, kind: str, by: Signature) -> Document:
    row: Document = {
        "_id": f"{tick}:{kind}:{schedule}",
        "schedule": schedule,
        "tick_at": tick,
        "kind": kind,
        "recorded_at": by.recorded_at,
    }
    if by.leader is not None:
        row["leader"] = by.leader
        row["epoch"] = by.epoch
    if by.backfilled:
        row["backfilled"] = True
    return row


def _read_place(page: PageRequest) -> tuple[int, str] | None:
    after = place_after(page, "tick")
    if after is None:
        return None
    kind, _, tick = after.partition("@")
    try:
        return int(tick), kind
    except ValueError:
        raise no_place(page) from None
