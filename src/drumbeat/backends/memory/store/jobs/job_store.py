"""The memory store's `JobStore`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from drumbeat.backends.memory.store.jobs.claim import Claim
from drumbeat.backends.memory.store.jobs.job_record import JobRecord
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.nodes import MemoryNodes
from drumbeat.backends.memory.store.step import Step
from drumbeat.backends.store_rules import check_settlements, check_times, page_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs import job as jobs
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.jobs.transitions import allows
from drumbeat.rules.page_position import no_place, place_after

new_inserted = fast_constructor(jobs.Inserted)
new_settled = fast_constructor(jobs.Settled)
new_taken = fast_constructor(jobs.Taken)


class MemoryJobs:
    """Jobs, and the holds on them."""

    def __init__(self, step: Step, table: JobTable, nodes: MemoryNodes) -> None:
        self._step = step
        self._table = table
        self._nodes = nodes

    async def insert(
        self, specs: Sequence[jobs.JobSpec], at: At = None
    ) -> Sequence[jobs.Inserted | jobs.Duplicate]:
        with self._step as step:
            now = step.now(at)
            check_times(specs)
            return [self._insert(spec, now) for spec in specs]

    async def promote(self, limit: int, at: At = None) -> jobs.Promoted:
        with self._step as step:
            tickets = self._table.promote(limit, step.now(at))
            return jobs.Promoted(tuple(tickets), self._table.next_appointment())

    async def expire(self, limit: int, at: At = None) -> jobs.ExpiredJobs:
        with self._step as step:
            expired = self._table.expire(limit, step.now(at))
            return jobs.ExpiredJobs(tuple(expired), self._table.next_expiry())

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> jobs.Promoted:
        with self._step as step:
            tickets = self._table.stale(step.now(at) - queued_for, limit)
            return jobs.Promoted(tuple(tickets), self._table.next_appointment())

    async def take(
        self,
        wanted: jobs.Wanted,
        by: NodeId,
        settled: Sequence[jobs.Settlement] = (),
        at: At = None,
    ) -> jobs.Taken:
        with self._step as step:
            now = step.now(at)
            check_settlements(settled)
            verdicts = [self._settle(settlement, now) for settlement in settled]
            claim = Claim(self._table, by, now)
            claim.run(wanted)
            return new_taken(
                tuple(claim.attempts),
                tuple(verdicts),
                tuple(claim.cancelled),
                claim.try_at,
                tuple(claim.expired),
            )

    async def settle(
        self, settlements: Sequence[jobs.Settlement], at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        with self._step as step:
            now = step.now(at)
            check_settlements(settlements)
            return [self._settle(settlement, now) for settlement in settlements]

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[jobs.Cancelled | jobs.CancelRequested | jobs.TooLate]:
        with self._step as step:
            now = step.now(at)
            return [self._cancel(job_id, reason, now) for job_id in job_ids]

    async def reopen(
        self, job_ids: Sequence[JobId], at: At = None
    ) -> Sequence[jobs.Reopened | jobs.TooLate]:
        with self._step as step:
            now = step.now(at)
            return [self._reopen(job_id, now) for job_id in job_ids]

    async def lost(self, limit: int, at: At = None) -> Sequence[jobs.Attempt]:
        with self._step as step:
            now = step.now(at)
            attempts: builtins.list[jobs.Attempt] = []
            for node, held in self._table.running.items():
                if not self._nodes.alive(node, now):
                    attempts += [record.held() for record in held.values()]
                if len(attempts) >= limit:
                    break
            return attempts[:limit]

    async def reap(
        self, settlements: Sequence[jobs.Settlement], node: NodeId, at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        with self._step as step:
            now = step.now(at)
            check_settlements(settlements)
            if self._nodes.alive(node, now):
                return [jobs.Superseded(settlement.hold) for settlement in settlements]
            return [self._settle(settlement, now) for settlement in settlements]

    async def held(self, by: NodeId) -> Sequence[jobs.Attempt]:
        with self._step:
            return [record.held() for record in self._table.running.get(by, {}).values()]

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[jobs.Job | None]:
        with self._step:
            found = [self._table.records.get(job_id) for job_id in job_ids]
            return [record.job() if record else None for record in found]

    async def list(self, wanted: jobs.JobFilter, page: PageRequest) -> Page[jobs.Job]:
        with self._step:
            found = (each.job() for each in self._newest_first(page) if matches(each, wanted))
            return page_of(found, page.size, "job", lambda job: job.id)

    async def attempts(self, job_id: JobId) -> Sequence[jobs.AttemptRecord]:
        with self._step:
            record = self._table.records.get(job_id)
            return record.attempts() if record else ()

    async def counts(self) -> Mapping[str, Mapping[jobs.Status, int]]:
        with self._step:
            return self._table.lanes.counts()

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        with self._step:
            lanes = self._table.lanes.within(tuple(queues))
            waiting = {lane.task for lane in lanes if lane.tally[jobs.Status.QUEUED]}
            return sorted(waiting - known)[:limit]

    def _insert(self, spec: jobs.JobSpec, now: datetime) -> jobs.Inserted | jobs.Duplicate:
        identity = spec.dedupe_identity
        if identity is not None:
            standing = self._table.dedupe.standing(identity, now)
            if standing is not None:
                return jobs.Duplicate(standing.job())
        return new_inserted(self._table.create(spec, now).job())

    def _settle(self, settlement: jobs.Settlement, now: datetime) -> jobs.Settled | jobs.Superseded:
        record = self._table.holder(settlement.hold)
        if record is None:
            return jobs.Superseded(settlement.hold)
        return new_settled(settlement.hold, self._table.settle(record, settlement, now))

    def _cancel(
        self, job_id: JobId, reason: str, now: datetime
    ) -> jobs.Cancelled | jobs.CancelRequested | jobs.TooLate:
        record = self._table.records.get(job_id)
        if record is None or not allows(record.status, jobs.Change.CANCEL):
            return jobs.TooLate(job_id, record.status if record else None)
        self._table.cancel(record, reason, now)
        return jobs.CancelRequested(job_id) if record.cancel_requested else jobs.Cancelled(job_id)

    def _reopen(self, job_id: JobId, now: datetime) -> jobs.Reopened | jobs.TooLate:
        record = self._table.records.get(job_id)
        if record is None or not allows(record.status, jobs.Change.REOPEN):
            return jobs.TooLate(job_id, record.status if record else None)
        self._table.reopen(record, now)
        return jobs.Reopened(job_id)

    def _newest_first(self, page: PageRequest) -> Iterator[JobRecord]:
        """The jobs after a page's place, by falling id, since ids rise with time."""
        after = place_after(page, "job")
        if after is None:
            return reversed(self._table.records.values())
        if not after.isdecimal():
            raise no_place(page)
        oldest = next(iter(self._table.records), 0)
        numbers = range(int(after) - 1, oldest - 1, -1)
        found = (self._table.records.get(JobId(number)) for number in numbers)
        return (record for record in found if record is not None)


def matches(record: JobRecord, wanted: jobs.JobFilter) -> bool:
    """Whether a job fits every given field of a filter; `created_to` itself is outside."""
    spec = record.spec
    return (
        (not wanted.statuses or record.status in wanted.statuses)
        and (wanted.task is None or spec.task == wanted.task)
        and (wanted.queue is None or spec.queue == wanted.queue)
        and (wanted.schedule is None or spec.schedule == wanted.schedule)
        and (wanted.tag is None or wanted.tag in spec.tags)
        and (not wanted.expired or record.job().has_expired)
        and (not wanted.skipped or record.job().was_skipped)
        and (wanted.created_from is None or record.created_at >= wanted.created_from)
        and (wanted.created_to is None or record.created_at < wanted.created_to)
    )
