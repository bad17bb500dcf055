"""Retention: the MongoDB store's pruning."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.job_document import PRUNED
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite, jobs_with, write
from drumbeat.backends.mongo.store.schedules.ledger import prune as prune_ledger
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.times import length
from drumbeat.backends.mongo.store.totals import count_and_delete
from drumbeat.model.jobs.job import FINAL
from drumbeat.ports.store import At

ENDED = {"status": {"$in": [status.value for status in FINAL]}}


class MongoRetention:
    """Deletes what is old, in bounded steps."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            await collections["rates"].delete_many({"outdated_at": {"$lte": now}})
            await collections["limits"].delete_many({"holders": []})
            own: Document = {**ENDED, "kept_until": {"$lte": now}}
            pruned = await _prune(collections, own, [("kept_until", 1), ("_id", 1)], limit)
            usual: Document = {
                **ENDED,
                "finished_at": {"$lte": now - length(older_than)},
                "kept_until": None,
                "free_at": {"$not": {"$gt": now}},
            }
            order = [("finished_at", 1), ("_id", 1)]
            pruned += await _prune(collections, usual, order, limit - pruned)
            await count_and_delete(collections)
            return pruned

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            return await prune_ledger(collections, now - length(older_than), limit)

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            over: Document = {"expires_at": {"$lte": now - length(older_than)}}
            return await _delete(collections, "nodes", over, limit)

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            old: Document = {"at": {"$lte": now - length(older_than)}}
            return await _delete(collections, "audit", old, limit)


async def _prune(
    collections: Collections, wanted: Document, order: list[tuple[str, int]], limit: int
) -> int:
    """Hide finished jobs for good, in this order; how many."""
    pruned = 0
    while pruned < limit:
        found = collections["jobs"].find(wanted, {"revision": 1, "status": 1})
        documents = await jobs_with(FINAL, found.sort(order).limit(limit - pruned))
        if not documents:
            break
        unsets = ("finished_at", "kept_until", "guard", "key")
        writes = [
            JobWrite(each, {"status": PRUNED, "ended": each["status"]}, unsets)
            for each in documents
        ]
        pruned += len(await write(collections, writes))
    return pruned


async def _delete(collections: Collections, name: str, wanted: Document, limit: int) -> int:
    """Delete at most so many documents, the first by what they are wanted for."""
    order = [(field, 1) for field in wanted]
    found = collections[name].find(wanted, {"_id": 1}).sort(order).limit(limit)
    ids = [each["_id"] async for each in found]
    deleted = await collections[name].delete_many({"_id": {"$in": ids}, **wanted})
    return deleted.deleted_count
