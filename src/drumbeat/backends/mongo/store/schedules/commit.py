"""Commit: writes plans, which makes each tick fire exactly once (docs/adr/0040).

The fence is marked first, so a claim of it and this commit come one after the other. Then the rows
are prepared, which hold their ticks, then the jobs of the ticks that have not fired, and last the
schedules are marked. All of it happens when the decision is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bson import ObjectId
from pymongo import UpdateOne

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.decisions import Decisions, Prepared
from drumbeat.backends.mongo.store.fence import holder_by
from drumbeat.backends.mongo.store.jobs.insertion import prepare_jobs
from drumbeat.backends.mongo.store.jobs.job_document import new_document
from drumbeat.backends.mongo.store.schedules import ledger
from drumbeat.backends.mongo.store.schedules.ledger import Signature, once
from drumbeat.backends.mongo.store.schedules.schedule_document import advanced, is_as_read
from drumbeat.backends.mongo.store.session import next_numbers
from drumbeat.backends.mongo.store.times import to_number
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Status
from drumbeat.model.schedules.plan import Committed, Plan, Raced

Verdict = Committed | Raced


@dataclass(slots=True)
class Draft:
    """A plan on its way, and the schedule that it was found to fit."""

    plan: Plan
    schedule: Document
    jobs: list[Document] = field(default_factory=list[Document])
    rows: list[Document] = field(default_factory=list[Document])

    def drop(self, fired: frozenset[str]) -> None:
        """Leave out the ticks that have fired before."""
        kept = [
            (job, row)
            for job, row in zip(self.jobs, self.rows, strict=False)
            if row["_id"] not in fired
        ]
        skips = self.rows[len(self.jobs) :]
        self.jobs = [job for job, _ in kept]
        self.rows = [*(row for _, row in kept), *skips]


class Commit:
    """One commit of plans for different schedules."""

    def __init__(
        self, collections: Collections, decisions: Decisions, epoch: Epoch, now: int
    ) -> None:
        self._collections = collections
        self._decisions = decisions
        self._epoch = epoch
        self._now = now

    async def run(self, plans: Sequence[Plan]) -> dict[str, Verdict]:
        """Write the plans that are not outdated; raises `StaleEpoch` without the fence."""
        while True:
            fence = await holder_by(self._collections, self._epoch)
            drafts = await self._fitting(plans)
            if drafts is None:
                continue
            verdicts: dict[str, Verdict] = {plan.name: Raced(plan.name) for plan in plans}
            if not drafts:
                return verdicts
            signature = Signature(self._now, fence["holder"], self._epoch.number)
            await self._number(drafts, signature)
            decision = await self._decisions.begin(self._collections)
            committed = await self._prepare(decision, fence, drafts)
            if committed is None:
                continue
            if not committed:
                await self._decisions.abort(self._collections, decision)
                await holder_by(self._collections, self._epoch)  # others may have aborted it
            elif not await self._decisions.make(
                self._collections, decision, self._prepared(committed)
            ):
                continue
            for draft in committed:
                jobs = tuple(JobId(job["_id"]) for job in draft.jobs)
                verdicts[draft.plan.name] = Committed(draft.plan.name, jobs)
            return verdicts

    async def _fitting(self, plans: Sequence[Plan]) -> list[Draft] | None:
        """The plans whose schedule is as it was read; None: look again."""
        names = [plan.name for plan in plans]
        found = self._collections["schedules"].find({"_id": {"$in": names}})
        schedules = {each["_id"]: each async for each in found}
        marks = {each["decision"] for each in schedules.values() if "decision" in each}
        for mark in marks:
            await self._decisions.settle(self._collections, mark)
        if marks:
            return None
        return [
            Draft(plan, schedules[plan.name])
            for plan in plans
            if to_number(plan.cursor) <= self._now
            and is_as_read(plan.before, schedules.get(plan.name))
        ]

    async def _number(self, drafts: Sequence[Draft], signature: Signature) -> None:
        """Make the jobs and the rows."""
        count = sum(len(draft.plan.fires) for draft in drafts)
        numbers = iter(await next_numbers(self._collections, "jobs", count) if count else ())
        for draft in drafts:
            name = draft.plan.name
            for fire in once(draft.plan.fires):
                job_id = next(numbers)
                draft.jobs.append(new_document(fire.job, job_id, self._now))
                draft.rows.append(ledger.fired(name, fire.tick_at, job_id, signature))
            draft.rows += [ledger.skipped(name, skip, signature) for skip in draft.plan.skips]

    async def _prepare(
        self, decision: ObjectId, fence: Document, drafts: list[Draft]
    ) -> list[Draft] | None:
        """Prepare all; the drafts that are not raced. None: undone, look again."""
        in_the_way = await self._mark_fence(decision, fence)
        if in_the_way is None:
            in_the_way = await self._prepare_rows(decision, drafts)
        if in_the_way is None:
            jobs = [job for draft in drafts for job in draft.jobs]
            if jobs:
                await prepare_jobs(self._collections, decision, jobs)
            in_the_way = await self._mark_schedules(decision, drafts)
        if in_the_way is None:
            return await self._without_raced(decision, drafts)
        await self._decisions.abort(self._collections, decision)
        for each in in_the_way:
            await self._decisions.settle(self._collections, each)
        return None

    async def _mark_fence(self, decision: ObjectId, fence: Document) -> list[ObjectId] | None:
        """Hold the fence; else the decisions that do."""
        ours = {"_id": fence["_id"], "epoch": self._epoch.number, "decision": None}
        marked = await self._collections["fence"].update_one(ours, {"$set": {"decision": decision}})
        if marked.matched_count:
            return None
        found = await self._collections["fence"].find_one({"_id": fence["_id"]}, {"decision": 1})
        return [found["decision"]] if found and "decision" in found else []

    async def _prepare_rows(
        self, decision: ObjectId, drafts: Sequence[Draft]
    ) -> list[ObjectId] | None:
        """Hold the ticks that have not fired; else the decisions that hold some of them."""
        rows = [row for draft in drafts for row in draft.rows]
        taken = await ledger.prepare(self._collections, decision, rows)
        if not taken:
            return None
        holders = await ledger.holders(self._collections, taken)
        if holders is not None:
            return holders
        for draft in drafts:
            draft.drop(frozenset(taken))
        return None

    async def _mark_schedules(
        self, decision: ObjectId, drafts: Sequence[Draft]
    ) -> list[ObjectId] | None:
        """Mark those that are still as they were read; else the decisions in the way."""
        marks = [
            UpdateOne(
                {
                    "_id": draft.plan.name,
                    "revision": draft.schedule["revision"],
                    "created": draft.schedule["created"],
                    "decision": None,
                },
                {
                    "$set": {
                        "decision": decision,
                        "next": advanced(
                            draft.schedule, draft.plan, [job["_id"] for job in draft.jobs]
                        ),
                    }
                },
            )
            for draft in drafts
        ]
        marked = await self._collections["schedules"].bulk_write(marks, ordered=False)
        if marked.matched_count == len(drafts):
            return None
        names = [draft.plan.name for draft in drafts]
        found = self._collections["schedules"].find({"_id": {"$in": names}}, {"decision": 1})
        others = {each["decision"] async for each in found if "decision" in each} - {decision}
        return list(others) or None

    async def _without_raced(self, decision: ObjectId, drafts: list[Draft]) -> list[Draft]:
        """Undo the part of those whose schedule or whose previous job has changed."""
        found = self._collections["schedules"].find({"decision": decision}, {"_id": 1})
        marked = {each["_id"] async for each in found}
        unfinished = await self._unfinished(drafts)
        fitting = [
            draft
            for draft in drafts
            if draft.plan.name in marked
            and draft.plan.assumes_unfinished in (None, draft.schedule["last_job"] in unfinished)
        ]
        raced = [draft for draft in drafts if draft not in fitting]
        if raced and fitting:
            names = [draft.plan.name for draft in raced]
            mark: Document = {"decision": decision}
            ours = {**mark, "_id": {"$in": names}}
            unmark = {"$unset": {"decision": "", "next": ""}}
            await self._collections["schedules"].update_many(ours, unmark)
            rows = {**mark, "schedule": {"$in": names}}
            await self._collections["ticks"].delete_many(rows)
            ids = [job["_id"] for draft in raced for job in draft.jobs]
            await self._collections["jobs"].delete_many({**mark, "_id": {"$in": ids}})
        return fitting

    async def _unfinished(self, drafts: Sequence[Draft]) -> set[int]:
        """Which of the previous jobs that plans make an assumption of are unfinished."""
        last = [
            draft.schedule["last_job"]
            for draft in drafts
            if draft.plan.assumes_unfinished is not None
        ]
        if not last:
            return set()
        statuses = [status.value for status in Status if not status.final]
        wanted = {"_id": {"$in": last}, "status": {"$in": statuses}}
        return {each["_id"] async for each in self._collections["jobs"].find(wanted, {"_id": 1})}

    def _prepared(self, drafts: Sequence[Draft]) -> Prepared:
        jobs = Prepared.of_jobs(job for draft in drafts for job in draft.jobs).jobs
        cancels = [int(job_id) for draft in drafts for job_id in draft.plan.cancels]
        return Prepared(jobs, ticks=True, schedules=True, fence=True, cancels=cancels, at=self._now)
