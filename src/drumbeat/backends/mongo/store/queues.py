"""Queues: the MongoDB store's `QueueStore`."""

from __future__ import annotations

from pymongo import ReturnDocument

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs import job_lists
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.storable_text import name as storable
from drumbeat.backends.mongo.store.storable_text import readable
from drumbeat.backends.mongo.store.times import to_instant
from drumbeat.backends.mongo.store.totals import pruned_jobs
from drumbeat.backends.store_rules import queue_records
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import PausedQueue, Queues
from drumbeat.ports.store import At, Topic


class MongoQueues:
    """The queues that jobs wait in. Only a paused one has a document."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(self, at: At = None) -> Queues:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            counts = await job_lists.counts(collections)
            oldest = await job_lists.oldest_queued(collections)
            pruned = await pruned_jobs(collections)
            paused = {each["_id"]: _paused(each) async for each in collections["queues"].find({})}
        since = {queue: to_instant(number) for queue, number in oldest.items()}
        return Queues(to_instant(now), queue_records(counts, since, paused, pruned))

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Pause it, and then make everything that claims have seen of it outdated.

        A claim looks at its candidates first and at the pauses after that. So one that has missed
        the pause has seen its candidates before it, and their revisions have been raised since.
        """
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            found = await collections["queues"].find_one_and_update(
                {"_id": storable("the queue", name)},
                {"$set": {"reason": readable(reason)}, "$setOnInsert": {"since": now}},
                upsert=True,
                return_document=ReturnDocument.AFTER,
            )
            await _outdate(collections, name)
            assert found is not None, "it was written"
            return _paused(found)

    async def resume(self, name: str) -> PausedQueue | None:
        async with self._session.calls() as collections:
            found = await collections["queues"].find_one_and_delete({"_id": name})
        if found is None:
            return None
        self._session.signals.send(Topic.JOBS)
        return _paused(found)


async def _outdate(collections: Collections, queue: str) -> None:
    waiting = {"status": Status.QUEUED.value, "queue": queue}
    await collections["jobs"].update_many(waiting, {"$inc": {"revision": 1}})


def _paused(document: Document) -> PausedQueue:
    return PausedQueue(document["reason"], to_instant(document["since"]))
