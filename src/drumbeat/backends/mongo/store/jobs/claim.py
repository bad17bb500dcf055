"""Claim: takes queued jobs for one worker, best first, and never one that may not start.

A claim looks at candidates, *then* at the pauses, and then writes by the revisions that it has seen
(docs/adr/0041). What it could not have is left out of the next look: keys and rates without room,
and jobs that somebody else tries to claim just now. A claim that has all that is wanted looks no
further: of the rates that other jobs wait for, the next claim tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.jobs.admission import Admission, Admitted, Blocked, GivesWay
from drumbeat.backends.mongo.store.jobs.cancellation import cancelling
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite, jobs_with, write
from drumbeat.backends.store_rules import LIMIT_REACHED, MOST_EXPIRED
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import SKIPPED, OnConflict, Status, Wanted

QUEUED = Status.QUEUED.value
ORDER = [("priority", -1), ("run_at", 1), ("_id", 1)]
LEAST_LOOK = 4
"""Half of how many candidates are looked at first, since some may not be had."""
MOST_LOOK = 1_000


@dataclass(slots=True)
class Claim:
    """The jobs that one call of `take` got."""

    collections: Collections
    by: NodeId
    now: int
    taken: list[Document] = field(default_factory=list[Document])
    cancelled: list[JobId] = field(default_factory=list[JobId])
    expired: list[JobId] = field(default_factory=list[JobId])
    try_at: int | None = None
    _stopped: bool = False
    """Whether the next job may only be started, and there is no room for that."""

    async def run(self, wanted: Wanted) -> None:
        admission = Admission(self.collections, self.now)
        most, size = wanted.limit + wanted.ahead, LEAST_LOOK
        while len(self.taken) < most:
            size = min(max(most - len(self.taken), 2 * size), MOST_LOOK)
            candidates = await self._look(wanted, admission, size)
            paused = await self._paused() if candidates else frozenset[str]()
            open_ = [each for each in candidates if each["queue"] not in paused]
            live = await self._end_expired(open_)
            if len(self.expired) >= MOST_EXPIRED:
                self.try_at = self.now
                break
            lost = await self._take(live, wanted, admission)
            if self._stopped or (len(candidates) < size and not lost):
                break
            wanted = _without(wanted, paused)
        self.taken.sort(key=lambda each: (-each["priority"], each["run_at"], each["_id"]))
        self.try_at = self.try_at or admission.opens_at()

    async def _look(self, wanted: Wanted, admission: Admission, size: int) -> list[Document]:
        filters: Document = {
            "status": QUEUED,
            "queue": {"$in": list(wanted.queues)},
            "task": {"$in": list(wanted.tasks)},
            "reserved": {"$lte": self.now},
            **admission.left_out(),
        }
        found = self.collections["jobs"].find(filters, {"history": 0, "stamps": 0})
        return await jobs_with((QUEUED,), found.sort(ORDER).limit(size))

    async def _paused(self) -> frozenset[str]:
        paused = self.collections["queues"].find({"since": {"$exists": True}}, {"_id": 1})
        return frozenset([each["_id"] async for each in paused])

    async def _end_expired(self, candidates: Sequence[Document]) -> list[Document]:
        """End those that have expired, and return the others."""
        expired = [each for each in candidates if _has_expired(each, self.now)]
        writes = [cancelling(each, EXPIRED, self.now) for each in expired]
        self.expired += sorted(map(JobId, await write(self.collections, writes)))
        return [each for each in candidates if not _has_expired(each, self.now)]

    async def _take(
        self, candidates: Sequence[Document], wanted: Wanted, admission: Admission
    ) -> bool:
        """Claim as many as are wanted; whether others have changed some of them meanwhile."""
        await admission.prepare([each for each in candidates if each["limited"]])
        lost = False
        free: list[Document] = []
        for document in candidates:
            count = len(self.taken) + len(free)
            if count >= wanted.limit + wanted.ahead:
                break
            if not document["limited"]:
                free.append(document)
            elif count >= wanted.limit:
                self._stopped = True  # it may start, but not be held
                break
            else:
                match await admission.admit(document):
                    case Admitted() as admitted:
                        if not await self._claim([admitted.document]):
                            await admission.give_back(admitted)
                            lost = True
                    case GivesWay(on):
                        await self._give_way(document, on)
                    case Blocked():
                        pass
                    case _ as never:
                        assert_never(never)
        return await self._claim(free) < len(free) or lost

    async def _claim(self, documents: Sequence[Document]) -> int:
        """Make them running; how many of them were as they were seen."""
        writes = [self._start(document) for document in documents]
        done = await write(self.collections, writes)
        self.taken += [each.after() for each in writes if each.document["_id"] in done]
        return len(done)

    async def _give_way(self, document: Document, on: OnConflict) -> None:
        skipped = on is OnConflict.SKIP and not document["attempt"]
        reason = SKIPPED if skipped else LIMIT_REACHED
        if await write(self.collections, [cancelling(document, reason, self.now)]):
            self.cancelled.append(JobId(document["_id"]))

    def _start(self, document: Document) -> JobWrite:
        sets: Document = {
            "status": Status.RUNNING.value,
            "attempt": document["attempt"] + 1,
            "fence": document["fence"] + 1,
            "node": self.by,
            "started_at": self.now,
            "reserved": 0,
        }
        return JobWrite(document, sets, ("queued_at", "progress"))


def _has_expired(document: Document, now: int) -> bool:
    expires_at = document.get("expires_at")
    return expires_at is not None and expires_at <= now


def _without(wanted: Wanted, paused: frozenset[str]) -> Wanted:
    queues = tuple(queue for queue in wanted.queues if queue not in paused)
    return Wanted(queues, wanted.tasks, wanted.limit, wanted.ahead)
