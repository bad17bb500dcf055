"""The memory store's `ScheduleStore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from drumbeat.backends.memory.store.fence import MemoryFence
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.schedules.ledger import Ledger, Signature
from drumbeat.backends.memory.store.schedules.schedule_table import ScheduleTable
from drumbeat.backends.memory.store.step import Step
from drumbeat.backends.store_rules import REPLACED, check_times
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Change
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import (
    AlreadyFired,
    Backfilled,
    Committed,
    Edit,
    Fire,
    Plan,
    Raced,
    TickRecord,
    Written,
)
from drumbeat.model.schedules.schedule import (
    Due,
    DueSchedule,
    Found,
    Previous,
    Revision,
    StoredSchedule,
)
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import NO_TIME, At
from drumbeat.rules.jobs.transitions import allows

new_stored = fast_constructor(StoredSchedule)
new_due = fast_constructor(DueSchedule)
new_previous = fast_constructor(Previous)
new_committed = fast_constructor(Committed)
new_revision = fast_constructor(Revision)


class MemorySchedules:
    """Schedules, their cursors and the ledger of their ticks."""

    def __init__(
        self, step: Step, table: JobTable, fence: MemoryFence, schedules: ScheduleTable
    ) -> None:
        self._step = step
        self._table = table
        self._fence = fence
        self._schedules = schedules
        self.ledger = Ledger()

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        with self._step as step:
            return Found(tuple(self._schedules.get(name) for name in names), step.now(at))

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        with self._step:
            return self._schedules.page(page, prefix)

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        with self._step as step:
            signature = Signature(step.now(at))
            return [self._put(edit, signature) for edit in edits]

    async def due(self, limit: int, at: At = None, *, ahead: timedelta = NO_TIME) -> Due:
        with self._step as step:
            now = step.now(at)
            schedules, next_at = self._schedules.due(now + ahead, limit)
            due = tuple(new_due(each, self._previous(each.last_job)) for each in schedules)
            return Due(due, now, next_at)

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        with self._step as step:
            signature = Signature(step.now(at), self._fence.leader_of(epoch), epoch.number)
            for plan in plans:
                check_times([fire.job for fire in plan.fires])
            return [self._commit(plan, signature) for plan in plans]

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        with self._step as step:
            if self._schedules.get(name) is None:
                raise UnknownSchedule(name)
            check_times([fire.job for fire in fires])
            signature = Signature(step.now(at), backfilled=True)
            return [self._backfill(name, fire, signature) for fire in fires]

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        with self._step:
            return self.ledger.page(name, page)

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        with self._step:
            return self.ledger.recorded(aware("since", since), limit)

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        with self._step:
            return [
                new_revision(
                    each.schedule.name,
                    each.version,
                    each.updated_at,
                    each.paused,
                    each.pause_reason,
                )
                for each in self._schedules.after(after, limit)
            ]

    def _put(self, edit: Edit, signature: Signature) -> Written | Raced:
        name = edit.name
        if not is_as_read(edit.before, self._schedules.get(name)):
            return Raced(name)
        if edit.after is not None:
            self._schedules.write(edit.after)
        elif edit.before is not None:
            self._schedules.remove(name)
        for skip in edit.skips:
            self.ledger.skipped(name, skip, signature)
        return Written(name)

    def _commit(self, plan: Plan, signature: Signature) -> Committed | Raced:
        name, now = plan.name, signature.recorded_at
        stored = self._schedules.get(name)
        if stored is None or plan.cursor > now or not self._is_as_read(plan, stored):
            return Raced(name)
        fired = [self._fire(name, fire, signature) for fire in plan.fires]
        jobs = [job_id for job_id in fired if job_id is not None]
        for skip in plan.skips:
            self.ledger.skipped(name, skip, signature)
        for job_id in plan.cancels:
            record = self._table.records.get(job_id)
            if record is not None and allows(record.status, Change.CANCEL):
                self._table.cancel(record, REPLACED, now)
        self._schedules.write(advanced(stored, plan, jobs))
        return new_committed(name, tuple(jobs))

    def _is_as_read(self, plan: Plan, stored: StoredSchedule) -> bool:
        if not is_as_read(plan.before, stored):
            return False
        if plan.assumes_unfinished is None:
            return True
        previous = self._previous(stored.last_job)
        unfinished = previous is not None and not previous.status.final
        return unfinished == plan.assumes_unfinished

    def _backfill(self, name: str, fire: Fire, signature: Signature) -> Backfilled | AlreadyFired:
        job_id = self._fire(name, fire, signature)
        if job_id is None:
            return AlreadyFired(fire.tick_at)
        return Backfilled(fire.tick_at, job_id)

    def _fire(self, name: str, fire: Fire, signature: Signature) -> JobId | None:
        """Create the tick's job and its row, unless the ledger has the tick as fired."""
        if self.ledger.has_fired(name, fire.tick_at):
            return None
        job_id = self._table.create(fire.job, signature.recorded_at).id
        self.ledger.fired(name, fire.tick_at, job_id, signature)
        return job_id

    def _previous(self, last_job: JobId | None) -> Previous | None:
        """The job of the last tick; None if it was pruned."""
        record = None if last_job is None else self._table.records.get(last_job)
        if record is None:
            return None
        return new_previous(record.id, record.status, record.finished_at)


def is_as_read(read: StoredSchedule | None, stored: StoredSchedule | None) -> bool:
    """Whether a schedule still has the version and the cursor that were read."""
    if read is None or stored is None:
        return read is stored
    return read.version == stored.version and read.cursor == stored.cursor


def advanced(stored: StoredSchedule, plan: Plan, jobs: list[JobId]) -> StoredSchedule:
    skips = stored.skips
    if skips:
        skips = frozenset(skip for skip in skips if skip > plan.cursor)
    return new_stored(
        stored.schedule,
        stored.version,
        plan.cursor,
        plan.next_tick,
        stored.created_at,
        stored.updated_at,
        stored.origin,
        stored.declared,
        stored.paused,
        stored.pause_reason,
        stored.runs + len(jobs),
        jobs[-1] if jobs else stored.last_job,
        skips,
    )
