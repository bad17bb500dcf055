"""Limit holders: the document of a limit key lists the jobs that run under it.

A holder is a job, its fence, and the claim that it is of: the job names its last claim too. It is
added before the job is claimed and removed after the job has ended, so a crash between may leave
one too many, and never one too few. Who finds a key full looks which of its holders run. One that
does not may still be wanted by a claim that sleeps: before the holder is removed, the job's
revision is raised, so that claim comes too late. A claim that came too late removes the holder that
is its own, and never the one of the claim that came first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pymongo import UpdateOne
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.latest import exists
from drumbeat.model.jobs.job import Limit, Status


def holder_of(reserved: Document) -> Document:
    """What stands for a reserved job in the documents of its keys."""
    return {"job": reserved["_id"], "fence": reserved["fence"] + 1, "claim": reserved["claim"]}


async def acquire(collections: Collections, limit: Limit, holder: Document) -> bool:
    """Add a holder, if there is room for it by this limit's own number."""
    room = {"_id": limit.key, f"holders.{limit.at_most - 1}": {"$exists": False}}
    try:
        await collections["limits"].update_one(room, {"$push": {"holders": holder}}, upsert=True)
    except DuplicateKeyError:  # the key exists, and has no room
        return False
    return True


async def drop(collections: Collections, keys: Iterable[str], holder: Document) -> None:
    """Remove a holder from some keys."""
    wanted = {"_id": {"$in": list(keys)}}
    await collections["limits"].update_many(wanted, {"$pull": {"holders": holder}})


async def release(collections: Collections, ended: Sequence[Document]) -> None:
    """Remove the holders of jobs, as they were while they ran."""
    updates = [
        UpdateOne(
            {"_id": limit["key"]},
            {"$pull": {"holders": {"job": document["_id"], "fence": document["fence"]}}},
        )
        for document in ended
        for limit in document.get("limits", ())
    ]
    if updates:
        await collections["limits"].bulk_write(updates, ordered=False)


async def counts(collections: Collections, keys: Sequence[str]) -> dict[str, int]:
    """How many holders each key has, also those that do not run."""
    found = collections["limits"].find({"_id": {"$in": list(keys)}})
    numbers = {each["_id"]: len(each["holders"]) async for each in found}
    return {key: numbers.get(key, 0) for key in keys}


async def genuine(collections: Collections, key: str, now: int) -> tuple[int, int]:
    """How many holders of a key run, and how many others may be about to.

    The others are removed.
    """
    found = await collections["limits"].find_one({"_id": key})
    holders: list[Document] = found["holders"] if found else []
    ids = [each["job"] for each in holders]
    jobs = {each["_id"]: each async for each in collections["jobs"].find({"_id": {"$in": ids}})}
    running = trying = 0
    for holder in holders:
        job = jobs.get(holder["job"])
        if job is not None and _runs(job, holder):
            running += 1
        elif job is not None and _tries(job, holder, now):
            trying += 1
        elif await _is_over(collections, job, holder):
            await drop(collections, [key], holder)
        else:
            trying += 1  # it has just changed: look again at the next claim
    return running, trying


def _runs(job: Document, holder: Document) -> bool:
    return job["status"] == Status.RUNNING and _is_of(job, holder)


def _is_of(job: Document, holder: Document) -> bool:
    """Whether the claim of the holder has made the job run that often."""
    return bool(job["fence"] == holder["fence"] and job.get("claim") == holder["claim"])


def _tries(job: Document, holder: Document, now: int) -> bool:
    """Whether the claim of the holder still has the reservation of the job."""
    reserved = job["fence"] == holder["fence"] - 1 and job["reserved"] > now
    return bool(reserved and job.get("claim") == holder["claim"])


async def _is_over(collections: Collections, job: Document | None, holder: Document) -> bool:
    """Make sure that no claim that looked at the job before can still make the holder run."""
    if job is None:
        return not await exists(collections["jobs"], {"_id": holder["job"]})
    if job["fence"] > holder["fence"] or _is_of(job, holder):
        return True  # that attempt is over
    seen = {"_id": job["_id"], "revision": job["revision"]}
    raised = await collections["jobs"].update_one(seen, {"$inc": {"revision": 1}})
    return raised.matched_count == 1
