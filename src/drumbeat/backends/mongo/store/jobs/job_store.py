"""The MongoDB store's `JobStore`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions
from drumbeat.backends.mongo.store.duplicates import storable
from drumbeat.backends.mongo.store.jobs import job_lists, waiting_jobs
from drumbeat.backends.mongo.store.jobs.cancellation import cancelling, reopening
from drumbeat.backends.mongo.store.jobs.claim import Claim
from drumbeat.backends.mongo.store.jobs.insertion import Insertion
from drumbeat.backends.mongo.store.jobs.job_document import (
    HIDDEN,
    VISIBLE,
    attempt_of,
    attempts_of,
    job_of,
)
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite, write
from drumbeat.backends.mongo.store.jobs.reaping import reap
from drumbeat.backends.mongo.store.jobs.settlement import rounds, settle
from drumbeat.backends.mongo.store.session import Session
from drumbeat.backends.mongo.store.storable_text import readable
from drumbeat.backends.mongo.store.times import length, to_instant_or_none
from drumbeat.backends.store_rules import HISTORY, check_settlements, check_times
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs import job as jobs
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At, Topic
from drumbeat.rules.jobs.transitions import allows

Verdict = TypeVar("Verdict")
Decide = Callable[[Document], JobWrite | None]
JOBS, TIMES, FINISHED = Topic.JOBS, Topic.TIMES, Topic.FINISHED


class MongoJobs:
    """Jobs, and the holds on them."""

    def __init__(self, session: Session, decisions: Decisions) -> None:
        self._session = session
        self._decisions = decisions

    async def insert(
        self, specs: Sequence[jobs.JobSpec], at: At = None
    ) -> Sequence[jobs.Inserted | jobs.Duplicate]:
        check_times(specs)
        if not specs:
            return []
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            verdicts = await Insertion(collections, self._decisions, now).run(specs)
        new = [each.job for each in verdicts if isinstance(each, jobs.Inserted)]
        self._session.signals.send(*_about_new(new))
        return verdicts

    async def promote(self, limit: int, at: At = None) -> jobs.Promoted:
        async with self._session.calls() as collections:
            await self._decisions.sweep(collections)
            now = await self._session.now(collections, at)
            tickets = await waiting_jobs.promote(collections, limit, now)
            next_at = await waiting_jobs.next_due(collections)
        if tickets:
            self._session.signals.send(JOBS)
        return jobs.Promoted(tuple(tickets), next_at)

    async def expire(self, limit: int, at: At = None) -> jobs.ExpiredJobs:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            expired = await waiting_jobs.expire(collections, limit, now)
            next_at = await waiting_jobs.next_expiry(collections)
        if expired:
            self._session.signals.send(FINISHED)
        return jobs.ExpiredJobs(tuple(expired), next_at)

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> jobs.Promoted:
        async with self._session.calls() as collections:
            since = await self._session.now(collections, at) - length(queued_for)
            tickets = await waiting_jobs.stale(collections, since, limit)
            return jobs.Promoted(tuple(tickets), await waiting_jobs.next_due(collections))

    async def take(
        self,
        wanted: jobs.Wanted,
        by: NodeId,
        settled: Sequence[jobs.Settlement] = (),
        at: At = None,
    ) -> jobs.Taken:
        check_settlements(settled)
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            verdicts = await settle(collections, settled, now)
            self._tell_of(verdicts)
            claim = Claim(collections, by, now)
            await claim.run(wanted)
        if claim.cancelled or claim.expired:
            self._session.signals.send(FINISHED)
        return jobs.Taken(
            tuple(attempt_of(each) for each in claim.taken),
            tuple(verdicts),
            tuple(claim.cancelled),
            to_instant_or_none(claim.try_at),
            tuple(claim.expired),
        )

    async def settle(
        self, settlements: Sequence[jobs.Settlement], at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        check_settlements(settlements)
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            verdicts = await settle(collections, settlements, now)
        self._tell_of(verdicts)
        return verdicts

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[jobs.Cancelled | jobs.CancelRequested | jobs.TooLate]:
        reason = readable(reason) or ""
        verdicts: dict[int, jobs.Cancelled | jobs.CancelRequested | jobs.TooLate] = {}
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)

            def decide(document: Document) -> JobWrite | None:
                if not allows(jobs.Status(document["status"]), jobs.Change.CANCEL):
                    return None
                return cancelling(document, reason, now)

            for places in rounds(range(len(job_ids)), lambda place: job_ids[place]):
                ids = [job_ids[place] for place in places]
                done, found = await _change(collections, ids, decide)
                for place in places:
                    job_id = job_ids[place]
                    if job_id not in done:
                        verdicts[place] = jobs.TooLate(job_id, found.get(job_id))
                    elif found[job_id] is jobs.Status.RUNNING:
                        verdicts[place] = jobs.CancelRequested(job_id)
                    else:
                        verdicts[place] = jobs.Cancelled(job_id)
        if any(isinstance(each, jobs.CancelRequested) for each in verdicts.values()):
            self._session.signals.send(Topic.CANCELLATIONS)
        if any(isinstance(each, jobs.Cancelled) for each in verdicts.values()):
            self._session.signals.send(FINISHED)
        return [verdicts[place] for place in range(len(job_ids))]

    async def reopen(
        self, job_ids: Sequence[JobId], at: At = None
    ) -> Sequence[jobs.Reopened | jobs.TooLate]:
        verdicts: dict[int, jobs.Reopened | jobs.TooLate] = {}
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)

            def decide(document: Document) -> JobWrite | None:
                if not allows(jobs.Status(document["status"]), jobs.Change.REOPEN):
                    return None
                return reopening(document, now)

            for places in rounds(range(len(job_ids)), lambda place: job_ids[place]):
                ids = [job_ids[place] for place in places]
                done, found = await _change(collections, ids, decide)
                for place in places:
                    job_id = job_ids[place]
                    verdicts[place] = (
                        jobs.Reopened(job_id)
                        if job_id in done
                        else jobs.TooLate(job_id, found.get(job_id))
                    )
        self._session.signals.send(JOBS)
        return [verdicts[place] for place in range(len(job_ids))]

    async def lost(self, limit: int, at: At = None) -> Sequence[jobs.Attempt]:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            living = collections["nodes"].find({"expires_at": {"$gt": now}}, {"_id": 1})
            alive = [each["_id"] async for each in living]
            lost = {"status": jobs.Status.RUNNING.value, "node": {"$nin": alive}}
            return await _attempts(collections, lost, limit)

    async def reap(
        self, settlements: Sequence[jobs.Settlement], node: NodeId, at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        check_settlements(settlements)
        if not settlements:
            return []
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            verdicts = await reap(collections, settlements, node, now)
        self._tell_of(verdicts)
        return verdicts

    async def held(self, by: NodeId) -> Sequence[jobs.Attempt]:
        async with self._session.calls() as collections:
            held = {"status": jobs.Status.RUNNING.value, "node": by}
            return await _attempts(collections, held, 0)

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[jobs.Job | None]:
        async with self._session.calls() as collections:
            found = collections["jobs"].find({"_id": {"$in": storable(job_ids)}, **VISIBLE})
            known = {each["_id"]: job_of(each) async for each in found}
            return [known.get(job_id) for job_id in job_ids]

    async def list(self, wanted: jobs.JobFilter, page: PageRequest) -> Page[jobs.Job]:
        async with self._session.calls() as collections:
            return await job_lists.jobs_page(collections, wanted, page)

    async def attempts(self, job_id: JobId) -> Sequence[jobs.AttemptRecord]:
        async with self._session.calls() as collections:
            wanted = {"_id": {"$in": storable([job_id])}, **VISIBLE}
            found = await collections["jobs"].find_one(wanted)
            return attempts_of(found)[-HISTORY:] if found else ()

    async def counts(self) -> Mapping[str, Mapping[jobs.Status, int]]:
        async with self._session.calls() as collections:
            return await job_lists.counts(collections)

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        async with self._session.calls() as collections:
            return await job_lists.unknown_tasks(collections, queues, known, limit)

    def _tell_of(self, verdicts: Iterable[jobs.Settled | jobs.Superseded]) -> None:
        statuses = {each.status for each in verdicts if isinstance(each, jobs.Settled)}
        if statuses:
            # A place under a limit may be free; a job may wait again.
            topics = [JOBS, *([FINISHED] if statuses & jobs.FINAL else [])]
            self._session.signals.send(*topics, *([TIMES] if statuses - jobs.FINAL else []))


def _about_new(new: Sequence[jobs.Job]) -> builtins.list[Topic]:
    topics: builtins.list[Topic] = []
    if any(each.status is jobs.Status.QUEUED for each in new):
        topics.append(JOBS)
    if any(each.status is jobs.Status.PENDING or each.spec.expires for each in new):
        topics.append(TIMES)
    return topics


async def _change(
    collections: Collections, job_ids: Sequence[JobId], decide: Decide
) -> tuple[frozenset[int], dict[int, jobs.Status]]:
    """Change different jobs; the ids of those that were, and the status that each had before."""
    done: frozenset[int] = frozenset()
    found: dict[int, jobs.Status] = {}
    left = storable(job_ids)
    while left:
        wanted = {"_id": {"$in": left}, "status": {"$nin": [*HIDDEN]}}
        documents = [each async for each in collections["jobs"].find(wanted)]
        found |= {each["_id"]: jobs.Status(each["status"]) for each in documents}
        writes = [change for each in documents if (change := decide(each)) is not None]
        written = await write(collections, writes)
        done |= written
        left = [each.document["_id"] for each in writes if each.document["_id"] not in written]
    return done, found


async def _attempts(
    collections: Collections, wanted: Document, limit: int
) -> builtins.list[jobs.Attempt]:
    found = collections["jobs"].find(wanted).sort([("_id", 1)]).limit(limit)
    return [attempt_of(each) async for each in found]
