"""Fence: decides which leader may write.

A commit marks the fence while it is prepared (`decisions.py`). A claim aborts a commit that is not
decided yet, and finishes one that is, before it takes the fence over.
"""

from __future__ import annotations

from contextlib import suppress

from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.storable_text import name
from drumbeat.backends.mongo.store.times import to_instant
from drumbeat.backends.store_rules import page_of
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import TERMS_KEPT, Epoch, FenceRow, Lease, Outranked, TermRecord
from drumbeat.model.ids import NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.page_position import number_after


class MongoFence:
    """One document for each election: the epoch, the highest token of each domain, the terms."""

    def __init__(self, session: Session, decisions: Decisions) -> None:
        self._session = session
        self._decisions = decisions

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            fence = collections["fence"]
            while True:
                found = await fence.find_one({"_id": lease.name}, {"terms": 0})
                if found is None:
                    with suppress(DuplicateKeyError):  # another node may be faster
                        await fence.insert_one(_first(lease))
                    continue
                if not outranks(lease, found):
                    return Outranked(lease.name, found["epoch"])
                if (decision := found.get("decision")) is not None:
                    await self._decisions.settle(collections, decision, patience=0)
                    continue
                seen = {"_id": lease.name, "epoch": found["epoch"], "decision": None}
                if (await fence.update_one(seen, _taken_over(lease, found, now))).matched_count:
                    return Epoch(lease.name, found["epoch"] + 1)

    async def read(self, election: str) -> FenceRow | None:
        async with self._session.calls() as collections:
            found = await collections["fence"].find_one({"_id": election}, {"terms": 0})
            if found is None or not found["epoch"]:
                return None
            fields = (found["epoch"], found["domain"], found["token"], found["holder"])
            return FenceRow(election, *fields)

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        before = number_after(page, "term")
        async with self._session.calls() as collections:
            found = await collections["fence"].find_one({"_id": election}, {"terms": 1})
        terms: list[tuple[int, NodeId, str, int, int]] = found["terms"] if found else []
        matching = (
            TermRecord(election, epoch, holder, domain, token, to_instant(since))
            for epoch, holder, domain, token, since in reversed(terms)
            if before is None or epoch < before
        )
        return page_of(matching, page.size, "term", lambda term: term.epoch)


def outranks(lease: Lease, fence: Document) -> bool:
    """Whether the lease's token is above every one that was seen of its domain."""
    seen = next((token for domain, token in fence["highest"] if domain == lease.domain), None)
    return seen is None or lease.token > seen


async def holder_by(collections: Collections, epoch: Epoch) -> Document:
    """The fence that this epoch holds, else `StaleEpoch`."""
    found = await collections["fence"].find_one({"_id": epoch.election}, {"terms": 0})
    seen = found["epoch"] if found else 0
    if found is None or seen != epoch.number:
        raise StaleEpoch(ours=epoch.number, seen=seen)
    return found


def _first(lease: Lease) -> Document:
    """The fence of an election that nobody has won yet."""
    return {"_id": name("the election", lease.name), "epoch": 0, "highest": [], "terms": []}


def _taken_over(lease: Lease, fence: Document, now: int) -> Document:
    epoch = fence["epoch"] + 1
    others = [pair for pair in fence["highest"] if pair[0] != lease.domain]
    return {
        "$set": {
            "epoch": epoch,
            "domain": lease.domain,
            "token": lease.token,
            "holder": lease.holder,
            "highest": [*others, [lease.domain, lease.token]],
        },
        "$push": {
            "terms": {
                "$each": [[epoch, lease.holder, lease.domain, lease.token, now]],
                "$slice": -TERMS_KEPT,
            }
        },
    }
