"""Settling attempts: closes those whose hold is current."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from bson import ObjectId
from pymongo import UpdateOne

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.job_document import finishing, history_row
from drumbeat.backends.mongo.store.jobs.job_writes import STAMPS, JobWrite, jobs_with, write
from drumbeat.backends.mongo.store.jobs.limit_holders import release
from drumbeat.backends.mongo.store.storable_text import readable
from drumbeat.backends.mongo.store.times import length, to_instant
from drumbeat.backends.store_rules import SETTLED
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    FINAL,
    Change,
    Hold,
    Settled,
    Settlement,
    Status,
    Superseded,
)
from drumbeat.rules.jobs.transitions import UNCOUNTED, settled, waiting

Verdict = Settled | Superseded
Item = TypeVar("Item")


async def settle(
    collections: Collections, settlements: Sequence[Settlement], now: int
) -> list[Verdict]:
    """Close the attempts, and return the verdicts in the same order."""
    verdicts: list[Verdict] = [Superseded(each.hold) for each in settlements]
    for places in rounds(range(len(settlements)), lambda place: settlements[place].hold.job_id):
        done = await _settle_apart(collections, [settlements[place] for place in places], now)
        for place, verdict in zip(places, done, strict=True):
            verdicts[place] = verdict
    return verdicts


def rounds(items: Iterable[Item], key: Callable[[Item], object]) -> Iterator[list[Item]]:
    """The items in rounds, in each of which a key comes once, and in their order."""
    left = list(items)
    while left:
        first: dict[object, Item] = {}
        for item in left:
            first.setdefault(key(item), item)
        this_round = list(first.values())
        yield this_round
        left = [item for item in left if item not in this_round] if len(left) > len(first) else []


async def _settle_apart(
    collections: Collections, settlements: Sequence[Settlement], now: int
) -> list[Verdict]:
    """Close attempts of different jobs."""
    quick = [each for each in settlements if each.change is Change.COMPLETE]
    done = await _complete(collections, quick, now)
    open_ = {each.hold: each for each in settlements if each.hold not in done}
    if open_:
        done |= await settle_by_revision(collections, open_, now)
    return [
        Settled(each.hold, done[each.hold]) if each.hold in done else Superseded(each.hold)
        for each in settlements
    ]


async def _complete(
    collections: Collections, settlements: Sequence[Settlement], now: int
) -> dict[Hold, Status]:
    """Complete the plain jobs among them without reading them first."""
    if not settlements:
        return {}
    stamp = ObjectId()
    jobs = collections["jobs"]
    result = await jobs.bulk_write(
        [_completion(each, stamp, now) for each in settlements], ordered=False
    )
    if result.matched_count == len(settlements):
        done = {each.hold.job_id for each in settlements}
    elif result.matched_count:
        ids = [each.hold.job_id for each in settlements]
        found = jobs.find({"_id": {"$in": ids}, "stamps": stamp}, {"_id": 1})
        done = {each["_id"] async for each in found}
    else:
        done = set[JobId]()
    return {each.hold: Status.COMPLETED for each in settlements if each.hold.job_id in done}


def _completion(settlement: Settlement, stamp: ObjectId, now: int) -> UpdateOne:
    hold = settlement.hold
    held = {
        "_id": hold.job_id,
        "status": Status.RUNNING.value,
        "fence": hold.fence,
        "plain": True,
    }
    sets: Document = {
        "status": Status.COMPLETED.value,
        "finished_at": now,
        "result": settlement.result,
        "error": readable(settlement.error),
    }
    return UpdateOne(
        held,
        {
            "$set": sets,
            "$unset": {"expires_at": ""},
            "$inc": {"revision": 1},
            "$push": {"stamps": {"$each": [stamp], "$slice": -STAMPS}},
        },
    )


async def settle_by_revision(
    collections: Collections, settlements: dict[Hold, Settlement], now: int
) -> dict[Hold, Status]:
    """Read, decide and write until each of them is done or its hold is over."""
    done: dict[Hold, Status] = {}
    while settlements:
        documents = await running(collections, list(settlements))
        writes = {hold: settling(documents[hold], settlements[hold], now) for hold in documents}
        written = await write(collections, list(writes.values()))
        await release(
            collections, [each for hold, each in documents.items() if hold.job_id in written]
        )
        for hold, each in writes.items():
            if hold.job_id in written:
                done[hold] = Status(each.sets["status"])
        settlements = {hold: settlements[hold] for hold in documents if hold.job_id not in written}
    return done


async def running(collections: Collections, holds: Sequence[Hold]) -> dict[Hold, Document]:
    """The documents of the holds that are current."""
    ids = [hold.job_id for hold in holds]
    found = collections["jobs"].find({"_id": {"$in": ids}, "status": Status.RUNNING.value})
    documents = {
        (each["_id"], each["fence"]): each for each in await jobs_with((Status.RUNNING,), found)
    }
    return {
        hold: documents[hold.job_id, hold.fence]
        for hold in holds
        if (hold.job_id, hold.fence) in documents
    }


def settling(document: Document, settlement: Settlement, now: int) -> JobWrite:
    """What becomes of a running job by its settlement."""
    change, error = settlement.change, readable(settlement.error)
    cancel_requested = document.get("cancel_requested", False)
    ended: list[object] | None = None
    if change is not Change.COMPLETE:
        expires_at = document.get("expires_at")
        too_late = expires_at is not None and expires_at <= now + length(settlement.delay)
        change = settled(change, cancel_requested=cancel_requested, too_late=too_late)
        ended = history_row(document, change, error, now)
        if cancel_requested and change is Change.CANCEL:
            error = document.get("error") or error  # the reason given with the request comes first
    status = SETTLED[change]
    if status in FINAL:
        sets = {**finishing(document, status, now), "error": error, "result": settlement.result}
        return JobWrite(document, sets, ("expires_at",), ended)
    attempt = document["attempt"] - (change in UNCOUNTED)
    sets = {"error": error, "attempt": attempt}
    run_at = document["run_at"]
    if change is not Change.GIVE_BACK:  # a job given back keeps its place
        run_at = now + length(settlement.delay)
    status = waiting(to_instant(run_at), to_instant(now))
    sets |= {"status": status.value, "run_at": run_at}
    if status is Status.QUEUED:
        sets["queued_at"] = now
    return JobWrite(document, sets, ("node", "started_at", "progress"), ended)
