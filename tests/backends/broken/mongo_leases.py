"""Broken leases of MongoDB, each with a mistake that is easy to make there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drumbeat.backends.mongo.coordinator.documents import LEASE, LIVE, NAME
from drumbeat.backends.mongo.coordinator.leases import MongoLeases
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId


class RenewsWhatHasExpired(MongoLeases):
    """Compares the holder and the token, and forgets the clock."""

    async def renew(self, lease: Lease) -> Lease | None:
        with self._server.calls() as collections:
            this = {"_id": LEASE + lease.name, "holder": lease.holder, "token": lease.token}
            written = await collections[NAME].update_one(this, {"$currentDate": {"renewed": True}})
        return lease if written.matched_count else None


class RenewsByHolder(MongoLeases):
    """Takes any term of the holder for this one."""

    async def renew(self, lease: Lease) -> Lease | None:
        with self._server.calls() as collections:
            this = {"_id": LEASE + lease.name, "holder": lease.holder, **LIVE}
            written = await collections[NAME].update_one(this, {"$currentDate": {"renewed": True}})
        return lease if written.matched_count else None


class DeletesOnRelease(MongoLeases):
    """Deletes the document, and with it the last token; the next one counts from one."""

    async def release(self, lease: Lease) -> bool:
        with self._server.calls() as collections:
            this = {"_id": LEASE + lease.name, "holder": lease.holder, "token": lease.token}
            return bool((await collections[NAME].delete_one(this)).deleted_count)

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        lease = await super().acquire(name, candidate, ttl)
        if lease is None or lease.token < 10**6:
            return lease
        with self._server.calls() as collections:
            await collections[NAME].update_one({"_id": LEASE + name}, {"$set": {"token": 1}})
        return Lease(name, candidate, lease.domain, 1, ttl)


class ReadsThenWrites(MongoLeases):
    """Looks whether the name is vacant, and writes without looking again."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if await self.current(name) is not None:
            return None
        token = int(datetime.now(UTC).timestamp() * 1e6)  # noqa: TID251 - a mistake of its own
        lease = Lease(name, candidate, "domain", token, ttl)
        term = {"holder": candidate, "token": token, "domain": "domain", "ttl": 0, "lasts": 30_000}
        with self._server.calls() as collections:
            await collections[NAME].update_one(
                {"_id": LEASE + name},
                {"$set": term, "$currentDate": {"renewed": True}},
                upsert=True,
            )
        return lease
