"""MongoLeases: the terms of elections and locks, in MongoDB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import NamedTuple

from pymongo.errors import DuplicateKeyError

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.mongo.connection.client import Collection, Document
from drumbeat.backends.mongo.connection.server import EPOCH, Server
from drumbeat.backends.mongo.coordinator.documents import (
    DOMAIN,
    LEASE,
    LEFT,
    LIVE,
    NAME,
    OVER,
    lasts,
    renewal,
    time_left,
)
from drumbeat.backends.mongo.coordinator.domain import ensure_domain
from drumbeat.backends.settling import Settling
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId

MICROSECOND = timedelta(microseconds=1)
MILLISECOND = timedelta(milliseconds=1)
VACANT: Document = {"$or": [{"holder": None}, OVER]}


class Seen(NamedTuple):
    """A name as it was read, by the server's clock."""

    domain: str
    now: datetime
    token: int | None
    """The last token of the name; None: it has no document."""
    left: timedelta | None
    """The rest of the term; None: the name is vacant."""

    @property
    def next_token(self) -> int:
        """Above every earlier token, and not below the clock: see the package."""
        return max((self.token or 0) + 1, (self.now - EPOCH) // MILLISECOND)


class MongoLeases:
    """One term at a time for each name."""

    def __init__(self, server: Server, waiter: HintWaiter[str], settling: Settling) -> None:
        self._server = server
        self._waiter = waiter
        self._settling = settling

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        with self._server.calls() as collections:
            seen = await _look(collections[NAME], name)
            if not self._settling.is_over(seen.domain, ttl) or seen.left is not None:
                return None
            lease = Lease(name, candidate, seen.domain, seen.next_token, ttl)
            return lease if await _begin(collections[NAME], lease, seen) else None

    async def renew(self, lease: Lease) -> Lease | None:
        return lease if await self._on_this_term(lease, renewal(lease.ttl)) else None

    async def release(self, lease: Lease) -> bool:
        return await self._on_this_term(lease, {"$set": {"holder": None}})

    async def evict(self, lease: Lease) -> bool:
        return await self.release(lease)  # the update compares the term, no matter who asks

    async def current(self, name: str) -> Lease | None:
        with self._server.calls() as collections:
            held = await collections[NAME].find_one(
                {"_id": LEASE + name, "holder": {"$ne": None}, **LIVE}
            )
        if held is None:
            return None
        length = held["ttl"] * MICROSECOND
        return Lease(name, NodeId(held["holder"]), held["domain"], held["token"], length)

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, LEASE + name, lambda: self.vacancy(name))

    async def vacancy(self, name: str) -> tuple[int | None, timedelta | None]:
        """The last token of a name that is vacant; or None, and the rest of its term."""
        with self._server.calls() as collections:
            seen = await _look(collections[NAME], name)
        self._settling.see(seen.domain)
        return (seen.token or 0, None) if seen.left is None else (None, seen.left)

    async def _on_this_term(self, lease: Lease, update: Document) -> bool:
        """Update the document of a term, if the term has not ended."""
        this = {"holder": lease.holder, "token": lease.token, "domain": lease.domain}
        with self._server.calls() as collections:
            written = await collections[NAME].update_one(
                {"_id": LEASE + lease.name, **this, **LIVE}, update
            )
        return written.matched_count == 1


async def _look(collection: Collection, name: str) -> Seen:
    """Read a name, the domain and the clock at once. Writes a domain if there is none."""
    while True:
        found = await collection.aggregate(
            [
                {"$match": {"_id": {"$in": [DOMAIN, LEASE + name]}}},
                {
                    "$project": {
                        **dict.fromkeys(("value", "holder", "token"), 1),
                        "now": "$$NOW",
                        "left": LEFT,
                    }
                },
            ]
        )
        by_id: dict[str, Document] = {each["_id"]: each async for each in found}
        if DOMAIN in by_id:
            domain, lease = by_id[DOMAIN], by_id.get(LEASE + name, {})
            held = lease.get("holder") is not None and lease["left"] > 0
            left = time_left(lease["left"]) if held else None
            return Seen(domain["value"], domain["now"], lease.get("token"), left)
        await ensure_domain(collection)


async def _begin(collection: Collection, lease: Lease, seen: Seen) -> bool:
    """Write a new term over the document that was read. False: somebody was faster."""
    term = {
        "holder": lease.holder,
        "token": lease.token,
        "domain": lease.domain,
        "ttl": lease.ttl // MICROSECOND,
        "lasts": lasts(lease.ttl),
    }
    update = {"$set": term, **renewal(lease.ttl)}
    this = {"_id": LEASE + lease.name}
    if seen.token is not None:
        begun = await collection.update_one({**this, "token": seen.token, **VACANT}, update)
        return begun.matched_count == 1
    try:
        await collection.update_one({**this, "token": {"$exists": False}}, update, upsert=True)
    except DuplicateKeyError:
        return False
    return True
