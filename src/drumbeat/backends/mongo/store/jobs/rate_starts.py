"""Rate starts: the document of a rate key has its recent starts, and changes by compare-and-set."""

from __future__ import annotations

from collections.abc import Sequence

from bson import ObjectId
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.model.jobs.job import Rate
from drumbeat.rules.jobs import rate_window
from drumbeat.rules.jobs.rate_window import NO_STARTS, Starts


class RateStarts:
    """The starts of some keys as this claim has read them last."""

    def __init__(self, collections: Collections, now: int) -> None:
        self._rates = collections["rates"]
        self._now = now
        self._read: dict[str, tuple[Starts, ObjectId | None]] = {}
        """With the revision of the document, which no later one has again; None: there is none."""

    async def read(self, keys: Sequence[str]) -> None:
        missing = [key for key in dict.fromkeys(keys) if key not in self._read]
        if missing:
            self._read |= dict.fromkeys(missing, (NO_STARTS, None))
            async for each in self._rates.find({"_id": {"$in": missing}}):
                self._read[each["_id"]] = _starts_of(each), each["revision"]

    async def opens_at(self, rate: Rate) -> int | None:
        """When the rate lets a job start; None: now."""
        while True:
            await self.read([rate.key])
            starts, _ = self._read[rate.key]
            seen = rate_window.as_of(starts, self._now)
            if seen is not starts and not await self._replace(rate.key, seen):
                continue  # the clock has gone back, and somebody else has seen it too
            opens_at = rate_window.opens_at(seen, rate)
            return None if opens_at is None or opens_at <= self._now else opens_at

    async def start(self, rate: Rate) -> bool:
        """Spend one start, unless that became impossible since it was read."""
        starts, _ = self._read[rate.key]
        return await self._replace(rate.key, rate_window.with_start(starts, rate, self._now))

    async def _replace(self, key: str, starts: Starts) -> bool:
        """Write the starts, if they are still as they were read; else forget what was read."""
        _, revision = self._read[key]
        after = _document_of(key, starts, ObjectId())
        if revision is None:
            try:
                await self._rates.insert_one(after)
            except DuplicateKeyError:
                del self._read[key]
                return False
        else:
            seen = {"_id": key, "revision": revision}
            if not (await self._rates.replace_one(seen, after)).matched_count:
                del self._read[key]
                return False
        self._read[key] = starts, after["revision"]
        return True


def _starts_of(document: Document) -> Starts:
    return Starts(tuple(document["times"]), tuple(document["counts"]), document["kept_for"])


def _document_of(key: str, starts: Starts, revision: ObjectId) -> Document:
    return {
        "_id": key,
        "times": list(starts.times),
        "counts": list(starts.counts),
        "kept_for": starts.kept_for,
        "outdated_at": starts.outdated_at,
        "revision": revision,
    }
