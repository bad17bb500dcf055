"""Totals: how many pruned jobs of each queue ended how.

Pruning first turns jobs into `pruned` ones, which nobody sees any more. A round then counts some of
them, and closes by a compare-and-set of the document `totals`, which adds the counts and names the
jobs that they are of; then it deletes these. So each job is counted once, whatever crashes: a
pruned job that the last round names is counted and only has to be deleted, and every other one is
not counted yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.job_document import PRUNED
from drumbeat.model.jobs.job import Status

TOTALS = "totals"
MOST_COUNTED = 10_000
"""Jobs that one round counts at most: their numbers are in one document."""


async def pruned_jobs(collections: Collections) -> dict[str, dict[Status, int]]:
    """By queue: how the jobs ended that nobody sees any more."""
    totals = await _read(collections)
    counted = _added(totals, await _uncounted(collections, totals))
    found: dict[str, dict[Status, int]] = {}
    for (queue, status), count in counted.items():
        found.setdefault(queue, {})[Status(status)] = count
    return found


async def count_and_delete(collections: Collections) -> None:
    """Count the pruned jobs, and delete them."""
    while True:
        totals = await _read(collections)
        await _delete(collections, totals["named"])
        jobs = await _uncounted(collections, totals)
        if not jobs:
            return
        counted = _added(totals, jobs)
        named = [each["_id"] for each in jobs]
        ended = [[queue, status, count] for (queue, status), count in sorted(counted.items())]
        closed = await collections["numbers"].update_one(
            {"_id": TOTALS, "round": totals["round"]},
            {"$set": {"round": totals["round"] + 1, "ended": ended, "named": named}},
        )
        if closed.matched_count:
            await _delete(collections, named)
            return


async def _read(collections: Collections) -> Document:
    while True:
        found = await collections["numbers"].find_one({"_id": TOTALS})
        if found is not None:
            return found
        first: Document = {"_id": TOTALS, "round": 0, "ended": [], "named": []}
        try:
            await collections["numbers"].insert_one(first)
        except DuplicateKeyError:
            continue  # another node was faster


async def _uncounted(collections: Collections, totals: Document) -> list[Document]:
    wanted = {"status": PRUNED, "_id": {"$nin": totals["named"]}}
    fields = {"queue": 1, "ended": 1}
    return await collections["jobs"].find(wanted, fields).limit(MOST_COUNTED).to_list()


async def _delete(collections: Collections, job_ids: Sequence[int]) -> None:
    if job_ids:
        named = {"_id": {"$in": list(job_ids)}, "status": PRUNED}
        await collections["jobs"].delete_many(named)


def _added(totals: Document, jobs: Sequence[Document]) -> Counter[tuple[str, str]]:
    counted = Counter({(queue, status): count for queue, status, count in totals["ended"]})
    counted.update((each["queue"], each["ended"]) for each in jobs)
    return counted
