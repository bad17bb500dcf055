"""Nodes: the MongoDB store's `NodeStore`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from pymongo import ReturnDocument, UpdateOne

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.job_document import progress_fields
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.times import MICROSECONDS, to_instant
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Beat, NodeRecord, Pulse
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Hold, Progress, Status
from drumbeat.ports.store import At

RUNNING = Status.RUNNING.value


class MongoNodes:
    """Heartbeats: one per node, for all that it holds."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            before = await _replace(collections, beat, now)
            if before is None or before.get("declared_dead") or before["expires_at"] <= now:
                await _keep_from_reapers(collections, beat.node.id)
            await _report(collections, beat.progress)
            cancelled, lost = await _verdicts_on(collections, beat.holds)
        drain = before is not None and before.get("drain_requested", False)
        return Pulse(to_instant(now), tuple(cancelled), tuple(lost), drain)

    async def leave(self, node: NodeId) -> None:
        async with self._session.calls() as collections:
            nodes = collections["nodes"]
            while (found := await nodes.find_one({"_id": node})) is not None:
                seen = {"_id": node, "beat_at": found["beat_at"]}
                over = {"$set": {"expires_at": found["beat_at"]}}
                if (await nodes.update_one(seen, over)).matched_count:
                    return

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            found = collections["nodes"].find({}).sort([("_id", 1)])
            return [_record_of(each, now) async for each in found]

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        async with self._session.calls() as collections:
            wanted = {"_id": {"$in": [*nodes]}}
            await collections["nodes"].update_many(wanted, {"$set": {"drain_requested": True}})
            known = {each["_id"] async for each in collections["nodes"].find(wanted, {"_id": 1})}
            return [node for node in nodes if node in known]


async def _replace(collections: Collections, beat: Beat, now: int) -> Document | None:
    """Write the heartbeat, and return what was there before."""
    fields = {
        "node": node_to_text(beat.node),
        "beat_at": now,
        "expires_at": now + round(beat.lifetime * MICROSECONDS),
    }
    found: Document | None = await collections["nodes"].find_one_and_update(
        {"_id": beat.node.id},
        {"$set": fields, "$unset": {"declared_dead": ""}},
        upsert=True,
        return_document=ReturnDocument.BEFORE,
    )
    return found


async def _keep_from_reapers(collections: Collections, node: NodeId) -> None:
    """Make what a reaper has read of this node's jobs outdated.

    It may have found the node dead or unknown before this heartbeat. What it has not written yet it
    will not write any more, and what it has written is seen by what comes next here.
    """
    held = {"status": RUNNING, "node": node}
    await collections["jobs"].update_many(held, {"$inc": {"revision": 1}})


async def _report(collections: Collections, progress: Sequence[tuple[Hold, Progress]]) -> None:
    """Keep the progress of the holds that are current. It changes nothing that is decided by."""
    if progress:
        updates = [
            UpdateOne(
                {"_id": hold.job_id, "status": RUNNING, "fence": hold.fence},
                {"$set": {"progress": progress_fields(each)}},
            )
            for hold, each in progress
        ]
        await collections["jobs"].bulk_write(updates, ordered=False)


async def _verdicts_on(
    collections: Collections, holds: Sequence[Hold]
) -> tuple[builtins.list[Hold], builtins.list[Hold]]:
    """Which of the holds are to be cancelled, and which are over."""
    if not holds:
        return [], []
    running = {"_id": {"$in": [hold.job_id for hold in holds]}, "status": RUNNING}
    fields = {"fence": 1, "cancel_requested": 1}
    found = collections["jobs"].find(running, fields)
    current = {
        (each["_id"], each["fence"]): each.get("cancel_requested", False) async for each in found
    }
    cancelled = [hold for hold in holds if current.get((hold.job_id, hold.fence))]
    lost = [hold for hold in holds if (hold.job_id, hold.fence) not in current]
    return cancelled, lost


def _record_of(document: Document, now: int) -> NodeRecord:
    expires_at = document["expires_at"]
    return NodeRecord(
        node_from_text(document["node"]),
        to_instant(document["beat_at"]),
        to_instant(expires_at),
        expires_at > now,
        document.get("drain_requested", False),
    )
