"""Job writes: changes of jobs, each guarded by the revision that it was decided by.

A batch is one bulk write, which says only how many of its changes matched. If that is all, they are
done. Otherwise those that were done are found by the stamp that each has left: a job keeps its last
few stamps, so a change that came right after does not hide it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from bson import ObjectId
from pymongo import UpdateOne
from pymongo.asynchronous.cursor import AsyncCursor

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.store_rules import HISTORY

STAMPS = 8
"""How many changes that came after one may hide it: one less."""


@dataclass(frozen=True, slots=True)
class JobWrite:
    """What is to become of a job that was read."""

    document: Document
    sets: Document = field(default_factory=dict[str, object])
    unsets: tuple[str, ...] = ()
    ended: list[object] | None = None
    """The row of its history, if an attempt ends."""

    def after(self) -> Document:
        """The document after it was written."""
        after = {**self.document, **self.sets, "revision": self.document["revision"] + 1}
        for name in self.unsets:
            after.pop(name, None)
        return after

    def to_update(self, stamp: ObjectId) -> UpdateOne:
        push: Document = {"stamps": {"$each": [stamp], "$slice": -STAMPS}}
        if self.ended is not None:
            push["history"] = {"$each": [self.ended], "$slice": -HISTORY}
        update: Document = {"$inc": {"revision": 1}, "$push": push}
        if self.sets:
            update["$set"] = self.sets
        if self.unsets:
            update["$unset"] = dict.fromkeys(self.unsets, "")
        seen = {field: self.document[field] for field in ("_id", "revision", "status")}
        return UpdateOne(seen, update)


async def jobs_with(statuses: Collection[str], found: AsyncCursor[Document]) -> list[Document]:
    """The documents that were found, each once, and without those that have left these statuses.

    A server may find a document twice that moves in the index meanwhile, and the test server may
    return one as it is a moment after it has matched the filter.
    """
    documents = {each["_id"]: each async for each in found if each["status"] in statuses}
    return list(documents.values())


async def write(collections: Collections, writes: Sequence[JobWrite]) -> frozenset[int]:
    """Make the changes whose job is still as it was read; return the ids of these jobs."""
    if not writes:
        return frozenset()
    stamp = ObjectId()
    jobs = collections["jobs"]
    ids = [each.document["_id"] for each in writes]
    result = await jobs.bulk_write([each.to_update(stamp) for each in writes], ordered=False)
    if result.matched_count == len(writes):
        return frozenset(ids)
    if not result.matched_count:
        return frozenset()
    done = jobs.find({"_id": {"$in": ids}, "stamps": stamp}, {"_id": 1})
    return frozenset([each["_id"] async for each in done])
