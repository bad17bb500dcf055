"""Inserting jobs, all or none."""

from __future__ import annotations

from collections.abc import Sequence

from bson import ObjectId
from pymongo.errors import BulkWriteError, DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions, Prepared
from drumbeat.backends.mongo.store.duplicates import refused_places
from drumbeat.backends.mongo.store.jobs.job_document import (
    PREPARED,
    PRUNED,
    job_of,
    new_document,
    stands,
)
from drumbeat.backends.mongo.store.session import next_numbers
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.jobs.job import FINAL, Duplicate, Inserted, JobSpec

NOT_STANDING = [PREPARED, PRUNED, *(status.value for status in FINAL)]

new_inserted = fast_constructor(Inserted)


class Insertion:
    """Creates jobs whose dedupe keys are free."""

    def __init__(self, collections: Collections, decisions: Decisions, now: int) -> None:
        self._collections = collections
        self._decisions = decisions
        self._now = now

    async def run(self, specs: Sequence[JobSpec]) -> list[Inserted | Duplicate]:
        drafts = [new_document(spec, 0, self._now) for spec in specs]
        while True:
            known = await self._standing(drafts)
            new: list[Document] = []
            places: list[Document] = []
            """For each spec its new job, or the one that has the key."""
            for draft in drafts:
                key = draft.get("key")
                place = None if key is None else known.get(key)
                if place is None:
                    place = {**draft} if key is None else {**draft, "guard": key}
                    new.append(place)
                    if key is not None:
                        known[key] = place
                places.append(place)
            taken = await self._create(new)
            if taken is None:
                return _verdicts(places, new)
            await self._free(taken)

    async def _standing(self, drafts: Sequence[Document]) -> dict[bytes, Document]:
        """The jobs that have the keys, the newest of each."""
        keys = list({each["key"] for each in drafts if "key" in each})
        if not keys:
            return {}
        standing: Document = {
            "key": {"$in": keys},
            "$or": [{"status": {"$nin": NOT_STANDING}}, {"free_at": {"$gt": self._now}}],
        }
        found = self._collections["jobs"].find(standing).sort("_id", 1)
        return {each["key"]: each async for each in found if stands(each, self._now)}

    async def _create(self, new: Sequence[Document]) -> bytes | None:
        """Insert the jobs; else the key that somebody else has taken meanwhile."""
        if not new:
            return None
        numbers = await next_numbers(self._collections, "jobs", len(new))
        for job_id, document in zip(numbers, new, strict=True):
            document["_id"] = job_id
        if len(new) > 1:
            return await self._create_together(new)
        try:
            await self._collections["jobs"].insert_one(new[0])
        except DuplicateKeyError:
            return _key(new[0])
        return None

    async def _create_together(self, new: Sequence[Document]) -> bytes | None:
        decision = await self._decisions.begin(self._collections)
        taken = await prepare_jobs(self._collections, decision, new)
        if taken is not None:
            await self._decisions.abort(self._collections, decision)
            return taken
        if await self._decisions.make(self._collections, decision, Prepared.of_jobs(new)):
            return None
        return await self._create_together(new)

    async def _free(self, key: bytes) -> None:
        """Free a key whose job does not stand any more, or wait until that is known."""
        jobs = self._collections["jobs"]
        found = await jobs.find_one({"guard": key})
        if found is None or stands(found, self._now):
            return
        if found["status"] == PREPARED:
            await self._decisions.settle(self._collections, found["decision"])
        else:
            seen = {"_id": found["_id"], "revision": found["revision"]}
            await jobs.update_one(seen, {"$unset": {"guard": ""}, "$inc": {"revision": 1}})


async def prepare_jobs(
    collections: Collections, decision: ObjectId, new: Sequence[Document]
) -> bytes | None:
    """Insert jobs that nobody sees; else the key that somebody else has.

    Keys are taken in their order, so that two batches never wait for each other.
    """
    prepared = [
        {**each, "status": PREPARED, "becomes": each["status"], "decision": decision}
        for each in sorted(new, key=lambda each: each.get("guard", b""))
    ]
    try:
        await collections["jobs"].insert_many(prepared)
    except BulkWriteError as error:
        return _key(prepared[refused_places(error)[0]])
    return None


def _key(document: Document) -> bytes:
    key: bytes = document["guard"]
    return key


def _verdicts(places: Sequence[Document], new: Sequence[Document]) -> list[Inserted | Duplicate]:
    fresh = {id(each) for each in new}
    verdicts: list[Inserted | Duplicate] = []
    for place in places:
        if id(place) in fresh:
            fresh.discard(id(place))
            verdicts.append(new_inserted(job_of(place)))
        else:
            verdicts.append(Duplicate(job_of(place)))
    return verdicts
