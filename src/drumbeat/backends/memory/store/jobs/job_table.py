"""The job table: every status change of every job goes through here.

Nothing in this file locks; its callers hold the step. A job is in exactly one place by its status:
pending in the queue of appointments, queued in its lane (or parked beside it), running with its
node, finished in the queue of those to be pruned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import cast

from drumbeat.backends.memory.store.hints import Hints
from drumbeat.backends.memory.store.jobs.admission import Admission
from drumbeat.backends.memory.store.jobs.dedupe_keys import DedupeKeys
from drumbeat.backends.memory.store.jobs.job_record import Appointment, JobRecord, Retirement
from drumbeat.backends.memory.store.jobs.lanes import Lanes
from drumbeat.backends.memory.store.jobs.ordered_queue import OrderedQueue
from drumbeat.backends.store_rules import SETTLED
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import (
    FINAL,
    Attempt,
    Change,
    Hold,
    JobSpec,
    Settlement,
    Status,
    Ticket,
)
from drumbeat.model.jobs.queue import PausedQueue
from drumbeat.ports.store import Topic
from drumbeat.rules.jobs.transitions import UNCOUNTED, settled, waiting

PENDING, QUEUED, RUNNING = Status.PENDING, Status.QUEUED, Status.RUNNING
CANCELLED = Status.CANCELLED
NO_TIME = timedelta(0)
WAITING = (PENDING, QUEUED)
COMPLETE = Change.COMPLETE
JOBS, TIMES, FINISHED = Topic.JOBS, Topic.TIMES, Topic.FINISHED


class JobTable:
    """All jobs, and the indexes that answer for them."""

    def __init__(self, hints: Hints) -> None:
        self.records: dict[JobId, JobRecord] = {}
        self.lanes = Lanes()
        self.admission = Admission()
        self.dedupe = DedupeKeys()
        self.running: dict[NodeId, dict[JobId, JobRecord]] = {}
        self.finished: OrderedQueue[Retirement] = OrderedQueue()
        """Finished jobs by their end, except those of the next queue."""
        self.guarding: OrderedQueue[Retirement] = OrderedQueue()
        """Finished jobs with a dedupe key or a retention of their own, by when both are over."""
        self.paused: dict[str, PausedQueue] = {}
        self.forgotten: dict[str, dict[Status, int]] = {}
        """By queue: how the pruned jobs ended."""
        self._appointments: OrderedQueue[Appointment] = OrderedQueue()
        self._queued: dict[JobId, datetime] = {}
        """The queued jobs, in the order in which they were queued, and when that was."""
        self._expiring: OrderedQueue[Retirement] = OrderedQueue()
        """Waiting jobs that expire, and dead entries of jobs that wait no more."""
        self._hints = hints
        self._ids = cast("Iterator[JobId]", count(1))

    def create(self, spec: JobSpec, now: datetime) -> JobRecord:
        """Create a job, whatever its dedupe key."""
        job_id = next(self._ids)
        lane = self.lanes.of(spec.queue, spec.task)
        limited = spec.rate is not None or spec.limits != ()
        record = self.records[job_id] = JobRecord(job_id, spec, lane, now, now, limited)
        if spec.expires is not None:
            record.expires_at = spec.expires_at(now)
        if spec.dedupe_key is not None:
            self.dedupe.add(record)
        if spec.run_at is not None:
            record.run_at = spec.run_at
        elif spec.delay:
            record.run_at = now + spec.delay
        else:
            self._queue(record, now)
            return record
        self._wait(record, now)
        return record

    def start(self, record: JobRecord, by: NodeId, now: datetime) -> Attempt:
        self._withdraw(record)
        record.lane.tally[RUNNING] += 1
        record.status = RUNNING
        record.attempt += 1
        record.fence += 1
        record.node = by
        record.started_at = now
        record.progress = None
        if record.limited:
            self.admission.start(record.spec, now)
        try:
            self.running[by][record.id] = record
        except KeyError:
            self.running[by] = {record.id: record}
        return record.held()

    def holder(self, hold: Hold) -> JobRecord | None:
        """The running job that the hold is for, if it is current: the same claim, not over."""
        record = self.records.get(hold.job_id)
        if record is None or record.status is not RUNNING or record.fence != hold.fence:
            return None
        return record

    def settle(self, record: JobRecord, settlement: Settlement, now: datetime) -> Status:
        """Close the running attempt, and return the job's new status."""
        self._take_off_node(record)
        change, error = settlement.change, settlement.error
        if change is not COMPLETE:
            too_late = record.expires_at is not None and record.expires_at <= now + settlement.delay
            change = settled(change, cancel_requested=record.cancel_requested, too_late=too_late)
            record.remember(change, error, now)
            if record.cancel_requested and change is Change.CANCEL:
                error = record.error or error  # the reason given with the request comes first
        record.error = error
        status = SETTLED[change]
        if status in FINAL:
            record.result = settlement.result
            self._finish(record, status, now)
            return status
        if change in UNCOUNTED:
            record.attempt -= 1
        record.node = record.started_at = record.progress = None
        if change is not Change.GIVE_BACK:  # a job given back keeps its place
            record.run_at = now + settlement.delay
        self._wait(record, now)
        return record.status

    def cancel(self, record: JobRecord, reason: str, now: datetime) -> None:
        """End a waiting job as cancelled, or request the cancellation of a running one."""
        record.error = reason or None
        if record.status is RUNNING:
            record.cancel_requested = True
            self._hints.note(Topic.CANCELLATIONS)
        else:
            self._withdraw(record)
            self._finish(record, CANCELLED, now)

    def reopen(self, record: JobRecord, now: datetime) -> None:
        """Queue a failed or cancelled job again, as new but for its fence."""
        record.lane.tally[record.status] -= 1
        record.attempt = 0
        record.run_at = now
        record.node = record.started_at = record.finished_at = None
        record.result = record.error = record.progress = None
        record.cancel_requested = False
        if record.expires_at is not None:
            record.spec = replace(record.spec, expires=None)
            record.expires_at = None
        self.dedupe.add(record)
        self._wait(record, now)

    def forget(self, record: JobRecord) -> None:
        del self.records[record.id]
        forgotten = self.forgotten.setdefault(record.lane.queue, {})
        forgotten[record.status] = forgotten.get(record.status, 0) + 1
        record.lane.tally[record.status] -= 1
        self.dedupe.discard(record)
        self.lanes.discard_if_empty(record.lane)

    def promote(self, limit: int, now: datetime) -> list[Ticket]:
        tickets: list[Ticket] = []
        while len(tickets) < limit:
            due_at = self.next_appointment()
            if due_at is None or due_at > now:
                break
            record = self._appointments.pop()[2]
            self._withdraw(record)
            self._queue(record, now)
            tickets.append(Ticket(record.id, record.spec.queue, record.spec.priority))
        return tickets

    def expire(self, limit: int, now: datetime) -> list[JobId]:
        """End waiting jobs that have expired; those that a worker holds may wait again later."""
        expired: list[JobId] = []
        while len(expired) < limit:
            expires_at = self.next_expiry()
            if expires_at is None or expires_at > now:
                break
            record = self.records[self._expiring.pop()[1]]
            self.cancel(record, EXPIRED, now)
            expired.append(record.id)
        return expired

    def next_expiry(self) -> datetime | None:
        """When the next waiting job expires."""
        while (first := self._expiring.first()) is not None:
            expires_at, job_id = first
            record = self.records.get(job_id)
            if record and record.expires_at == expires_at and record.status in WAITING:
                return expires_at
            self._expiring.pop()
        return None

    def next_appointment(self) -> datetime | None:
        """When the next pending job is due."""
        first = _first_live(self._appointments)
        return None if first is None else first[0]

    def stale(self, since: datetime, limit: int) -> list[Ticket]:
        """Tickets of the jobs that have been queued since then, the longest first."""
        tickets: list[Ticket] = []
        for job_id, queued_at in self._queued.items():
            if queued_at > since or len(tickets) >= limit:
                break
            spec = self.records[job_id].spec
            tickets.append(Ticket(job_id, spec.queue, spec.priority))
        return tickets

    def oldest_queued(self) -> dict[str, datetime]:
        """By queue: the earliest `run_at` among its queued jobs."""
        oldest: dict[str, datetime] = {}
        for job_id in self._queued:
            record = self.records[job_id]
            queue, run_at = record.lane.queue, record.run_at
            if queue not in oldest or run_at < oldest[queue]:
                oldest[queue] = run_at
        return oldest

    def _wait(self, record: JobRecord, now: datetime) -> None:
        """Let a job wait for its time, or for a worker if that has come."""
        if waiting(record.run_at, now) is QUEUED:
            self._queue(record, now)
            return
        record.lane.tally[PENDING] += 1
        record.status = PENDING
        if record.expires_at is not None:
            self._await_expiry(record, record.expires_at)
        soonest = self._appointments.first()
        if soonest is None or record.run_at < soonest[0]:
            self._hints.note(TIMES)
        record.place = (record.run_at, record.id, record)
        self._appointments.push(record.place)

    def _queue(self, record: JobRecord, now: datetime) -> None:
        lane = record.lane
        lane.tally[QUEUED] += 1
        record.status = QUEUED
        if record.expires_at is not None:
            self._await_expiry(record, record.expires_at)
        place = (-record.spec.priority, record.run_at, record.id, record)
        record.place = place
        if record.limited:
            self.admission.enqueue(place)
        else:
            lane.ready.push(place)
        self._queued[record.id] = now
        self._hints.note(JOBS)

    def _await_expiry(self, record: JobRecord, expires_at: datetime) -> None:
        soonest = self._expiring.first()
        if soonest is None or expires_at < soonest[0]:
            self._hints.note(TIMES)
        self._expiring.push((expires_at, record.id))

    def _withdraw(self, record: JobRecord) -> None:
        status = record.status
        record.lane.tally[status] -= 1
        record.place = None
        if status is QUEUED:
            del self._queued[record.id]

    def _take_off_node(self, record: JobRecord) -> None:
        """Take a running job off its node, and unpark those that waited for its room."""
        assert record.node is not None, "a running job has a node"
        record.lane.tally[RUNNING] -= 1
        held = self.running[record.node]
        del held[record.id]
        if not held:
            del self.running[record.node]
        if record.limited:
            unparked = self.admission.unparked
            self.admission.end(record.spec)
            if self.admission.unparked != unparked:
                self._hints.note(JOBS)

    def _finish(self, record: JobRecord, status: Status, now: datetime) -> None:
        record.lane.tally[status] += 1
        record.status = status
        record.finished_at = now
        spec = record.spec
        if spec.dedupe_key is None and spec.retention is None:
            self.finished.push((now, record.id))
        else:
            guards_for = NO_TIME if spec.dedupe_key is None else spec.dedupe_for
            self.guarding.push((now + max(guards_for, spec.retention or NO_TIME), record.id))
        self._hints.note(FINISHED)


def _first_live(line: OrderedQueue[Appointment]) -> Appointment | None:
    """The first entry that is not dead. Dead ones before it are dropped."""
    while (first := line.first()) is not None:
        if first[2].place is first:
            return first
        line.pop()
    return None
