"""Admission: whether a job with limits or a rate may start, and its place under their keys.

The order is that of the memory store: a rate without room makes a job wait, then a reached limit;
only if nothing else stands in its way does a reached limit with `on_conflict` `cancel` or `skip`
end it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bson import ObjectId

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.job_document import limits_of, rate_of
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite, write
from drumbeat.backends.mongo.store.jobs.limit_holders import (
    acquire,
    counts,
    drop,
    genuine,
    holder_of,
)
from drumbeat.backends.mongo.store.jobs.rate_starts import RateStarts
from drumbeat.backends.mongo.store.times import length
from drumbeat.model.jobs.job import Limit, OnConflict, Rate

TRYING = 5_000_000
"""Microseconds for which a job is reserved for the worker that tries to claim it."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """It may start. The document is as it was reserved."""

    document: Document


@dataclass(frozen=True, slots=True)
class Blocked:
    """It waits: for a key, for its rate, or for somebody else who tries to claim it."""


@dataclass(frozen=True, slots=True)
class GivesWay:
    """Only limits that cancel or skip it stand in its way."""

    on: OnConflict
    """`SKIP` if all of them skip it."""


class Admission:
    """What one claim knows of keys and rates, and of what it could not have."""

    def __init__(self, collections: Collections, now: int) -> None:
        self._collections = collections
        self._now = now
        self._starts = RateStarts(collections, now)
        self._holders: dict[str, int] = {}
        """How many holders each key had when it was looked at."""
        self._trying: dict[str, int] = {}
        """How many of these do not run, once that was looked at."""
        self._full: dict[str, int] = {}
        """The keys without room: the highest number for which there was none."""
        self._spent: dict[Rate, int] = {}
        """The rates without room: when each opens."""
        self._passed: list[int] = []
        """Jobs that could not be had for another reason."""

    async def prepare(self, documents: Sequence[Document]) -> None:
        """Read the keys and the rates of some candidates at once."""
        keys = {each["key"] for document in documents for each in document.get("limits", ())}
        unknown = [key for key in keys if key not in self._holders]
        if unknown:
            self._holders |= await counts(self._collections, unknown)
        await self._starts.read([each["rate"]["key"] for each in documents if "rate" in each])

    def left_out(self) -> Document:
        """A filter for the next look: what could not be had is not looked at again."""
        refused: list[Document] = [
            {"limits": {"$elemMatch": {"key": key, "at_most": {"$lte": number}, "on": "wait"}}}
            for key, number in self._full.items()
        ]
        for rate in self._spent:
            refused.append({"rate.key": rate.key, "rate.at_most": rate.at_most})
            refused[-1]["rate.per"] = length(rate.per)
        if self._passed:
            refused.append({"_id": {"$in": self._passed}})
        return {"$nor": refused} if refused else {}

    def opens_at(self) -> int | None:
        """When the first of the rates that had no room opens."""
        return min(self._spent.values(), default=None)

    async def admit(self, document: Document) -> Admitted | Blocked | GivesWay:
        limits = limits_of(document)
        rate = rate_of(document["rate"]) if "rate" in document else None
        while True:
            if rate is not None and not await self._opens(rate):
                return Blocked()
            if await self._reached(limits, OnConflict.WAIT):
                return Blocked()
            for on in (OnConflict.CANCEL, OnConflict.SKIP):
                full = await self._reached(limits, on)
                if full is not None and self._trying[full.key]:
                    self._passed.append(document["_id"])
                    return Blocked()
                if full is not None:
                    return GivesWay(on)
            reserved = await self._reserve(document)
            if reserved is None:
                self._passed.append(document["_id"])
                return Blocked()
            if not await self._acquire(reserved, limits):
                document = await self._unreserve(reserved)
            elif rate is not None and not await self._start(rate):
                await self._drop(reserved, limits)
                document = await self._unreserve(reserved)
            else:
                return Admitted(reserved)

    async def give_back(self, admitted: Admitted) -> None:
        """Leave the keys of a job that could not be claimed; its start is spent."""
        limits = limits_of(admitted.document)
        await self._drop(admitted.document, limits)
        self._passed.append(admitted.document["_id"])

    async def _opens(self, rate: Rate) -> bool:
        opens_at = await self._starts.opens_at(rate)
        if opens_at is not None:
            self._spent[rate] = opens_at
        return opens_at is None

    async def _reached(self, limits: Sequence[Limit], on: OnConflict) -> Limit | None:
        """The first limit of this kind that is reached."""
        for limit in limits:
            if limit.on_conflict is not on or self._holders[limit.key] < limit.at_most:
                continue
            if limit.key not in self._trying:
                found = await genuine(self._collections, limit.key, self._now)
                self._holders[limit.key], self._trying[limit.key] = sum(found), found[1]
            if self._holders[limit.key] >= limit.at_most:
                if on is OnConflict.WAIT:
                    known = self._full.get(limit.key, limit.at_most)
                    self._full[limit.key] = max(known, limit.at_most)
                return limit
        return None

    async def _reserve(self, document: Document) -> Document | None:
        """Keep others from trying the same job; None: it has changed."""
        reservation = JobWrite(document, {"reserved": self._now + TRYING, "claim": ObjectId()})
        return reservation.after() if await write(self._collections, [reservation]) else None

    async def _unreserve(self, document: Document) -> Document:
        release = JobWrite(document, {"reserved": 0})
        await write(self._collections, [release])
        return release.after()

    async def _acquire(self, document: Document, limits: Sequence[Limit]) -> bool:
        """Take a place under each key, or under none."""
        holder = holder_of(document)
        held: list[Limit] = []
        for limit in limits:
            if not await acquire(self._collections, limit, holder):
                await self._drop(document, held)
                keys = [each.key for each in limits]
                self._holders |= await counts(self._collections, keys)
                for key in keys:
                    self._trying.pop(key, None)
                return False
            held.append(limit)
        for limit in limits:
            self._holders[limit.key] += 1
        return True

    async def _drop(self, document: Document, limits: Sequence[Limit]) -> None:
        if limits:
            await drop(self._collections, [limit.key for limit in limits], holder_of(document))

    async def _start(self, rate: Rate) -> bool:
        return await self._starts.start(rate)
