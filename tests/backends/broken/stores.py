"""Broken stores."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.memory.store.audit import MemoryAudit
from drumbeat.backends.memory.store.fence import MemoryFence
from drumbeat.backends.memory.store.hints import Hints
from drumbeat.backends.memory.store.jobs.admission import Admission
from drumbeat.backends.memory.store.jobs.job_record import JobRecord
from drumbeat.backends.memory.store.jobs.job_store import MemoryJobs
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.nodes import MemoryNodes
from drumbeat.backends.memory.store.queues import MemoryQueues
from drumbeat.backends.memory.store.retention import Kept, MemoryRetention
from drumbeat.backends.memory.store.schedules.ledger import Signature
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules, advanced
from drumbeat.backends.memory.store.schedules.schedule_table import ScheduleTable
from drumbeat.backends.memory.store.tokens import MemoryTokens
from drumbeat.model.fleet.lease import Epoch, Lease, Outranked, TermRecord
from drumbeat.model.fleet.token import NameTaken, NewToken, TokenRecord
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import (
    Attempt,
    Duplicate,
    Hold,
    Inserted,
    JobSpec,
    Rate,
    Settled,
    Settlement,
    Status,
    Superseded,
    Taken,
    Wanted,
)
from drumbeat.model.jobs.queue import PausedQueue
from drumbeat.model.schedules.plan import Committed, Edit, Plan, Raced, Written
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.testing.conformance.builders import let_others_run

StorePart: TypeAlias = type[
    JobTable
    | MemoryJobs
    | MemorySchedules
    | MemoryFence
    | MemoryQueues
    | MemoryAudit
    | MemoryTokens
]


class SettleByIdOnly(JobTable):
    """Completes a job by its id, whoever holds it by now."""

    def holder(self, hold: Hold) -> JobRecord | None:
        record = self.records.get(hold.job_id)
        return record if record is not None and record.status is Status.RUNNING else None


class ForgetsTotals(JobTable):
    """Counts what pruning removes for nobody: totals go down."""

    def forget(self, record: JobRecord) -> None:
        super().forget(record)
        self.forgotten.clear()


class RefillsEvenly(JobTable):
    """Lets a rate's number start at once and refills it meanwhile: the generic cell rate algorithm.

    One period then has nearly twice the number.
    """

    def __init__(self, hints: Hints) -> None:
        super().__init__(hints)
        self.admission = _EvenRefill()


class _EvenRefill(Admission):
    def __init__(self) -> None:
        super().__init__()
        self._paces: dict[str, datetime] = {}

    def opens_at(self, rate: Rate, now: datetime) -> datetime | None:
        pace = self._paces.get(rate.key, now)
        opens_at = pace - rate.per / rate.at_most * (rate.at_most - 1)
        return opens_at if opens_at > now else None

    def start(self, spec: JobSpec, now: datetime) -> None:
        super().start(spec, now)
        if rate := spec.rate:
            self._paces[rate.key] = (
                max(self._paces.get(rate.key, now), now) + rate.per / rate.at_most
            )


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


class ReapsByAnOldAnswer(MemoryJobs):
    """Takes attempts from a node that was dead when somebody asked, and lives again."""

    async def reap(
        self, settlements: Sequence[Settlement], node: NodeId, at: At = None
    ) -> Sequence[Settled | Superseded]:
        del node
        return await self.settle(settlements, at)


class LooksForPausesFirst(MemoryJobs):
    """Reads which queues are paused, and claims by that a moment later."""

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement] = (), at: At = None
    ) -> Taken:
        paused = {**self._table.paused}
        await let_others_run()
        known, self._table.paused = self._table.paused, paused
        try:
            return await super().take(wanted, by, settled, at)
        finally:
            self._table.paused = known


class PausesOnlyWhatComes(MemoryJobs):
    """Claims what was queued before the pause."""

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement] = (), at: At = None
    ) -> Taken:
        known, self._table.paused = self._table.paused, {}
        try:
            return await super().take(wanted, by, settled, at)
        finally:
            self._table.paused = known


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
                if spec.dedupe_identity is None
                else self._table.dedupe.standing(spec.dedupe_identity, now)
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
                stored = self._schedules.get(plan.name)
                standing = stored is not None and self._is_as_read(plan, stored)
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
        self._schedules.write(advanced(stored, plan, jobs))
        return Committed(plan.name, tuple(jobs))


class ComparesOnlyTheVersion(MemorySchedules):
    """Guards a commit by a label that firing does not change."""

    def _is_as_read(self, plan: Plan, stored: StoredSchedule) -> bool:
        return plan.before.version == stored.version


class CommitsEarly(MemorySchedules):
    """Trusts the leader that the instant of a plan has come."""

    def _commit(self, plan: Plan, signature: Signature) -> Committed | Raced:
        return super()._commit(
            replace(plan, cursor=min(plan.cursor, signature.recorded_at)), signature
        )


class HintsOfTheEarliestOnly(MemorySchedules):
    """Wakes the ticker only for a tick that comes before all others."""

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        with self._step as step:
            _, earliest = self._schedules.due(datetime.min.replace(tzinfo=UTC), 0)
            verdicts = [self._put(edit, Signature(step.now(at))) for edit in edits]
            ticks = [each.after.next_tick for each in edits if each.after and each.after.next_tick]
            if earliest is not None and all(tick > earliest for tick in ticks):
                self._schedules._hints.drain()
            return verdicts


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


class RemembersWhoWasOutranked(MemoryFence):
    """Writes the history before it looks at the token."""

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        with self._step as step:
            row, now = self._rows.get(lease.name), step.now(at)
            number = row.epoch + 1 if row else 1
            term = TermRecord(lease.name, number, lease.holder, lease.domain, lease.token, now)
            terms = self._terms.setdefault(lease.name, deque())
            if not self.outranks(lease):
                terms.append(term)
        return await super().claim(lease, at)


class ResumesInSilence(MemoryQueues):
    """Tells nobody that a queue goes on."""

    async def resume(self, name: str) -> PausedQueue | None:
        with self._step:
            return self._table.paused.pop(name, None)


class LastOutcomeStands(MemoryAudit):
    """Lets whoever comes later rewrite what came of a change."""

    async def conclude(self, entry_id: int, outcome: str) -> None:
        with self._step:
            entry = self._entries.get(entry_id)
            if entry is not None:
                self._entries[entry_id] = replace(entry, outcome=outcome)


class LooksForTheNameFirst(MemoryTokens):
    """Looks for the name first, and adds afterwards."""

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        taken = any(each.name == token.name and not each.revoked_at for each in await self.list())
        await let_others_run()
        if taken:
            return NameTaken(token.name)
        with self._step as step:
            number, now = next(self._ids), step.now(at)
            record = TokenRecord(number, token.name, token.digest, token.scope, now)
            self._records[number] = record
            return record


class ForgetsAllThatIsOver(MemoryTokens):
    """Forgets every token that has expired, and not only the sessions of browsers."""

    async def prune_sessions(self, before: datetime) -> int:
        over = [each for each in await self.list() if each.expires_at and each.expires_at < before]
        for each in over:
            del self._records[each.id]
        return len(over)


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
        schedule_table = ScheduleTable(self._hints)
        self.schedules = schedules(self._step, self._table, self.fence, schedule_table)
        self.queues = MemoryQueues(self._step, self._table, self._hints)
        kept = Kept(self._table, self.schedules.ledger, self.nodes, self.audit)
        self.retention = MemoryRetention(self._step, kept)


class StoreWithOtherPapers(MemoryStore):
    """A memory store with another part of those that only people use."""

    def __init__(self, clock: Clock, part: type[MemoryQueues | MemoryAudit | MemoryTokens]) -> None:
        super().__init__(clock)
        if issubclass(part, MemoryQueues):
            self.queues = part(self._step, self._table, self._hints)
        elif issubclass(part, MemoryAudit):
            self.audit = part(self._step)
        else:
            self.tokens = part(self._step)


def store_with(part: StorePart, clock: Clock) -> MemoryStore:
    """A memory store with one part in the place of the right one."""
    if issubclass(part, MemoryQueues | MemoryAudit | MemoryTokens):
        return StoreWithOtherPapers(clock, part)
    if issubclass(part, JobTable):
        return BrokenStore(clock, table=part)
    if issubclass(part, MemoryJobs):
        return BrokenStore(clock, jobs=part)
    if issubclass(part, MemorySchedules):
        return BrokenStore(clock, schedules=part)
    return BrokenStore(clock, fence=part)
