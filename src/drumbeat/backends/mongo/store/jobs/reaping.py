"""Reaping: closes the attempts of a node, unless it has come back to life."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.store.jobs.job_writes import write
from drumbeat.backends.mongo.store.jobs.limit_holders import release
from drumbeat.backends.mongo.store.jobs.settlement import Verdict, running, settling
from drumbeat.backends.mongo.store.latest import exists
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Hold, Settled, Settlement, Status, Superseded


async def reap(
    collections: Collections, settlements: Sequence[Settlement], node: NodeId, now: int
) -> list[Verdict]:
    """Close attempts of a node that is dead.

    The order is what makes it exact: read the attempts, declare the node dead, write by what was
    read. A heartbeat that finds its node declared dead raises the revisions of all that it holds
    before it looks at them (`nodes.py`), so that this write then matches nothing.
    """
    done: dict[Hold, Status] = {}
    left: dict[Hold, Settlement] = {each.hold: each for each in settlements}
    while left:  # which only a cancellation, or a repaired limit, makes it do twice
        documents = await running(collections, list(left))
        if not documents or not await _declare_dead(collections, node, now):
            break
        writes = {hold: settling(each, left[hold], now) for hold, each in documents.items()}
        written = await write(collections, list(writes.values()))
        ended = {hold: each for hold, each in documents.items() if hold.job_id in written}
        await release(collections, list(ended.values()))
        done |= {hold: Status(writes[hold].sets["status"]) for hold in ended}
        left = {hold: left[hold] for hold in documents if hold not in ended}
    verdicts: list[Verdict] = []
    for each in settlements:
        status = done.pop(each.hold, None)
        verdicts.append(Superseded(each.hold) if status is None else Settled(each.hold, status))
    return verdicts


async def _declare_dead(collections: Collections, node: NodeId, now: int) -> bool:
    """Whether the node is dead or unknown; its next heartbeat will know that it was declared so."""
    nodes = collections["nodes"]
    over = {"_id": node, "expires_at": {"$lte": now}}
    declared = await nodes.update_one(over, {"$set": {"declared_dead": True}})
    return declared.matched_count == 1 or not await exists(nodes, {"_id": node})
