"""Broken stores."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import (
    Attempt,
    Duplicate,
    Hold,
    Inserted,
    JobSpec,
    Settlement,
    Status,
    Taken,
    Wanted,
)
from drumbeat.model.lease import Epoch, Lease
from drumbeat.model.plan import Committed, Plan, Raced
from drumbeat.model.schedule import StoredSchedule
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.stores.memory import MemoryStore
from drumbeat.stores.memory.fence import MemoryFence
from drumbeat.stores.memory.jobs import MemoryJobs
from drumbeat.stores.memory.ledger import Signature
from drumbeat.stores.memory.nodes import MemoryNodes
from drumbeat.stores.memory.record import JobRecord
from drumbeat.stores.memory.roster import Roster
from drumbeat.stores.memory.schedules import MemorySchedules, advanced
from drumbeat.stores.memory.table import JobTable
from drumbeat.testing.conformance.builders import let_others_run


class SettleByIdOnly(JobTable):
    """Completes a job by its id, whoever holds it by now."""

    def holder(self, hold: Hold) -> JobRecord | None:
        record = self.records.get(hold.job_id)
        return record if record is not None and record.status is Status.RUNNING else None


class FenceByAttempt(JobTable):
    """Takes the attempt's number, which snoozing and reopening set back, for the fence."""

    def start(self, record: JobRecord, by: NodeId, now: datetime) -> Attempt:
        super().start(record, by, now)
        record.fence = record.attempt
        return record.held()


class ForgetsCancellation(JobTable):
    """Lets a job wait again although its cancellation was asked for."""

    def settle(self, record: JobRecord, settlement: Settlement, now: datetime) -> Status:
        record.cancel_requested = False
        return super().settle(record, settlement, now)


class GiveBackCounts(JobTable):
    """Spends the attempt of a job that is given back."""

    def settle(self, record: JobRecord, settlement: Settlement, now: datetime) -> Status:
        attempt = record.attempt
        status = super().settle(record, settlement, now)
        record.attempt = attempt
        return status


class ClaimWithoutCompareAndSet(MemoryJobs):
    """Reads what is queued, and then takes it whatever has become of it."""

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement] = (), at: At = None
    ) -> Taken:
        verdicts = await self.settle(settled, at)
        with self._step as step:
            now = step.now(at)
            queued = [
                record for record in self._table.records.values() if record.status is Status.QUEUED
            ][: wanted.limit]
        await let_others_run()
        with self._step:
            attempts = [self._table.start(record, by, now) for record in queued]
        return Taken(tuple(attempts), tuple(verdicts))


class HoldsWhatHasLimits(MemoryJobs):
    """Takes what is wanted ahead for more of the same."""

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement] = (), at: At = None
    ) -> Taken:
        more = Wanted(wanted.queues, wanted.tasks, wanted.limit + wanted.ahead)
        return await super().take(more, by, settled, at)


class DedupeWithoutUniqueness(MemoryJobs):
    """Looks for the key first, and inserts afterwards."""

    async def insert(
        self, specs: Sequence[JobSpec], at: At = None
    ) -> Sequence[Inserted | Duplicate]:
        with self._step as step:
            now = step.now(at)
            standing = [
                None
                if spec.dedupe_key is None
                else self._table.dedupe.standing(spec.dedupe_key, now)
                for spec in specs
            ]
        await let_others_run()
        with self._step:
            return [
                Duplicate(found.job()) if found else Inserted(self._table.create(spec, now).job())
                for spec, found in zip(specs, standing, strict=True)
            ]


class CursorAfterJobs(MemorySchedules):
    """Adds the jobs first and moves the cursor in a second step."""

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        started: list[tuple[Plan, StoredSchedule | None, list[JobId]]] = []
        with self._step as step:
            by = Signature(step.now(at), self._fence.leader_of(epoch), epoch.number)
            for plan in plans:
                stored = self._roster.get(plan.name)
                standing = stored is not None and self._still_stands(plan, stored)
                jobs = [self._table.create(fire.job, by.recorded_at).id for fire in plan.fires]
                started.append((plan, stored if standing else None, jobs if standing else []))
        await let_others_run()
        with self._step:
            return [self._finish(plan, stored, jobs, by) for plan, stored, jobs in started]

    def _finish(
        self, plan: Plan, stored: StoredSchedule | None, jobs: list[JobId], by: Signature
    ) -> Committed | Raced:
        if stored is None:
            return Raced(plan.name)
        for fire, job_id in zip(plan.fires, jobs, strict=True):
            self.ledger.fired(plan.name, fire.tick_at, job_id, by)
        self._roster.write(advanced(stored, plan, jobs))
        return Committed(plan.name, tuple(jobs))


class ComparesOnlyTheVersion(MemorySchedules):
    """Guards a commit by a label that firing does not change."""

    def _still_stands(self, plan: Plan, stored: StoredSchedule) -> bool:
        return plan.before.version == stored.version


class AnyEpochWrites(MemorySchedules):
    """Trusts whoever says that it leads."""

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        with self._step as step:
            by = Signature(step.now(at), None, epoch.number)
            return [self._commit(plan, by) for plan in plans]


class FenceAcceptsEqualTokens(MemoryFence):
    """Lets a lease claim as often as it likes."""

    def outranks(self, lease: Lease) -> bool:
        return lease.token >= self._highest.get((lease.name, lease.domain), 0)


class FenceForgetsDomains(MemoryFence):
    """Remembers only the last domain, so a sleeper of an earlier one is welcome."""

    def outranks(self, lease: Lease) -> bool:
        row = self._rows.get(lease.name)
        return row is None or row.domain != lease.domain or lease.token > row.token


class BrokenStore(MemoryStore):
    """A memory store with other parts."""

    def __init__(
        self,
        clock: Clock,
        *,
        table: type[JobTable] = JobTable,
        jobs: type[MemoryJobs] = MemoryJobs,
        schedules: type[MemorySchedules] = MemorySchedules,
        fence: type[MemoryFence] = MemoryFence,
    ) -> None:
        super().__init__(clock)
        self._table = table(self._hints)
        self.nodes = MemoryNodes(self._step, self._table)
        self.jobs = jobs(self._step, self._table, self.nodes)
        self.fence = fence(self._step)
        roster = Roster(self._hints)
        self.schedules = schedules(self._step, self._table, self.fence, roster)


def store_with(
    part: type[JobTable | MemoryJobs | MemorySchedules | MemoryFence],
    clock: Clock,
) -> MemoryStore:
    """A memory store with one part in the place of the right one."""
    if issubclass(part, JobTable):
        return BrokenStore(clock, table=part)
    if issubclass(part, MemoryJobs):
        return BrokenStore(clock, jobs=part)
    if issubclass(part, MemorySchedules):
        return BrokenStore(clock, schedules=part)
    return BrokenStore(clock, fence=part)
