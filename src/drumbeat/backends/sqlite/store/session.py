"""The session: what the steps of one transaction share.

It collects new rows and writes them together, before the first step that could read them and at the
latest before the commit: a hundred callers with a job each become one statement. Of counts it
writes only the sum over the whole transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.hints.messenger import Messenger
from drumbeat.backends.sqlite.connection.session import Session
from drumbeat.backends.sqlite.connection.times import Moment
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup, LimitGroups
from drumbeat.backends.sqlite.store.jobs.new_plain_jobs import NewPlainJobs
from drumbeat.backends.sqlite.store.jobs.rows import Place
from drumbeat.backends.sqlite.store.sql import (
    CLAIMS,
    JOBS,
    SCHEDULES,
    NewRows,
    read_rows,
    soonest,
    write_rows,
)
from drumbeat.model.encoding.document import limits_to_text, rate_to_text
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.jobs.job_options import options_to_text
from drumbeat.model.time.instant import aware
from drumbeat.ports.clock import Clock

STATUSES = tuple(Status)
"""In the order of the columns that count them."""
COLUMN = {status: column for column, status in enumerate(STATUSES)}
PENDING, QUEUED, RUNNING = (COLUMN[each] for each in STATUSES[:3])


class Counters(NamedTuple):
    """The last numbers given out, whether there are fronts, openings and paused queues, and when
    the first job expires."""

    job: int
    tick: int
    group: int
    generation: int
    fronts: int
    openings: int
    paused: int
    expires_at: int | None


class StoreSession(Session):
    """One transaction of the store."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: Clock,
        groups: LimitGroups,
        messenger: Messenger,
    ) -> None:
        super().__init__(connection, messenger)
        self.groups = groups
        self._clock = clock
        self._now: Moment | None = None

    def start(self) -> None:
        row = self.execute(JOBS.counters).fetchone()
        counters = Counters._make(row)
        self._job, self._tick = counters.job, counters.tick
        self._group, self.generation = counters.group, counters.generation
        self._saved = (self._job, self._tick, self._group, self.generation)
        self.fronts, self.openings = counters.fronts, counters.openings
        self.paused = counters.paused
        self.expires_at = counters.expires_at
        """When the first job expires, also if it runs or has ended. None: no job expires."""
        self.groups.refresh(self.connection, self._group, self.generation)
        self._plain_jobs = NewPlainJobs()
        self.ticked_jobs = NewRows(JOBS, "insert_ticked_jobs", 9)
        """Jobs of a schedule, or with a time of their own."""
        self.jobs = NewRows(JOBS, "insert_jobs", 13)
        """Jobs of any kind."""
        self._expiring = NewRows(JOBS, "insert_expiring", 2)
        self.ticks = NewRows(SCHEDULES, "record", 11)
        self._queued = NewRows(JOBS, "insert_queued", 5)
        self._pending = NewRows(JOBS, "insert_pending", 2)
        self._fronts = NewRows(JOBS, "insert_fronts", 5)
        self._tallies: dict[int, list[int]] = {}
        self._group_changes: dict[int, int] = {}
        self._usage: dict[str, int] = {}
        self._changed_usage: set[str] = set()
        self._soonest: int | None = None
        self._soonest_known = False

    def flush(self) -> None:
        self.flush_rows()
        connection = self.connection
        if self._tallies:
            self._flush_tallies()
        if self._group_changes:
            changes = [value for each in self._group_changes.items() for value in each]
            write_rows(connection, JOBS.many("count_in_groups"), 2, changes)
            self._group_changes = {}
        if self._changed_usage:
            self._flush_usage()
        counters = (self._job, self._tick, self._group, self.generation)
        if counters != self._saved:
            self.execute(JOBS.save_counters, counters)
            self._saved = counters

    def flush_rows(self) -> None:
        """Write the collected rows, so that statements find them."""
        if self._plain_jobs:
            self._flush_plain_jobs()  # first, as `NewPlainJobs.write` requires
        for rows in (
            *(self.ticked_jobs, self.jobs, self._queued),
            *(self._pending, self._fronts, self._expiring, self.ticks),
        ):
            rows.write(self.connection)

    def forget(self) -> None:
        self.groups.forget()

    def moment(self, at: datetime | None) -> Moment:
        """The instant to judge by: the one given, or that of the transaction."""
        if at is not None:
            return Moment(aware("at", at))
        if self._now is None:
            self._now = Moment(self._clock.now())
        return self._now

    def next_job(self) -> JobId:
        self._job += 1
        return JobId(self._job)

    def next_tick(self) -> int:
        """The number of a ledger row for a tick that did not fire."""
        self._tick += 1
        return self._tick

    def group_of(self, spec: JobSpec) -> LimitGroup:
        """The limit group of a job, created if it is the first."""
        return self.groups.known(spec) or self._find_group(spec)

    def load_groups(self, specs: Iterable[JobSpec]) -> None:
        """Read the existing limit groups of many jobs in few statements."""
        wanted: list[Any] = []
        new: list[tuple[JobSpec, int]] = []
        for spec in specs:
            lane = self.groups.lane(spec.queue, spec.task)
            if lane is not None and self.groups.known(spec) is None:
                wanted += (len(new), lane, limits_to_text(spec.limits), rate_to_text(spec.rate))
                new.append((spec, lane))
        rows: Iterator[tuple[int, int]] = read_rows(
            self.connection, JOBS.many("groups_by_kind"), 4, wanted
        )
        for place, number in rows:
            spec, lane = new[place]
            kind = (spec.queue, spec.task, spec.limits, spec.rate)
            self.groups.learn(LimitGroup(number, lane, kind))

    def add_plain_job(self, spec: JobSpec, now: int) -> JobId:
        """Add a job without rare columns that runs at once. Most are so: this is the fast path."""
        group = self.groups.known(spec) or self._find_group(spec)
        job_id = self._job = self._job + 1
        rank = -spec.priority
        self._plain_jobs.add(job_id, (group, rank, now, options_to_text(spec)), spec.arguments)
        if group.limited:
            self._fronts.values += (group.id, group.lane, rank, now, job_id)
            self.fronts = 1
        return JobId(job_id)

    def add_queued(self, group: LimitGroup, place: Place, now: int) -> None:
        self._queued.values += (group.id, *place, now)
        if group.limited:
            self._fronts.values += (group.id, group.lane, *place)
            self.fronts = 1
        self.count(group.lane, QUEUED, 1)
        self.hints |= topics.JOBS

    def add_pending(self, group: LimitGroup, run_at: int, job_id: int) -> None:
        if not self._soonest_known:
            self._soonest, self._soonest_known = soonest(self.connection), True
        if self._soonest is None or run_at < self._soonest:
            self._soonest = run_at
            self.hints |= topics.TIMES
        self._pending.values += (run_at, job_id)
        self.count(group.lane, PENDING, 1)

    def add_expiring(self, job_id: int, expires_at: int) -> None:
        if self.expires_at is None or expires_at < self.expires_at:
            self.expires_at = expires_at
            self.hints |= topics.TIMES
        self._expiring.values += (job_id, expires_at)

    def count(self, lane: int, column: int, change: int) -> None:
        """Add to the number of jobs of a lane that have a status."""
        tally = self._tallies.get(lane)
        if tally is None:
            tally = self._tallies[lane] = [0, 0, 0, 0, 0, 0]
        tally[column] += change

    def count_in_group(self, group: LimitGroup, change: int) -> None:
        """Add to the number of jobs in a limited group; the others are counted by their lane."""
        if group.limited:
            self._group_changes[group.id] = self._group_changes.get(group.id, 0) + change

    def load_usage(self, keys: str) -> None:
        """Read how many jobs run under these keys, given as JSON."""
        for key, running in self.execute(CLAIMS.limit_usage, (keys,)):
            self._usage.setdefault(key, running)

    def usage(self, key: str) -> int:
        """How many jobs run under a key that was loaded before."""
        return self._usage.get(key, 0)

    def count_usage(self, key: str, change: int) -> None:
        self._usage[key] = self._usage.get(key, 0) + change
        self._changed_usage.add(key)

    def _flush_plain_jobs(self) -> None:
        plain_jobs, self._plain_jobs = self._plain_jobs, NewPlainJobs()
        plain_jobs.write(self.connection)
        for group, jobs in plain_jobs.counts():
            self.count(group.lane, QUEUED, jobs)
            self.count_in_group(group, jobs)
        self.hints |= topics.JOBS

    def _flush_tallies(self) -> None:
        tallies, self._tallies = self._tallies, {}
        if len(tallies) == 1:
            ((lane, tally),) = tallies.items()
            self.execute(JOBS.count_in_lane, (*tally, lane))
            return
        changes = [value for lane, tally in tallies.items() for value in (lane, *tally)]
        write_rows(self.connection, JOBS.many("count_in_lanes"), 7, changes)

    def _flush_usage(self) -> None:
        changed = {key: self._usage[key] for key in self._changed_usage}
        saved = [value for key, count in changed.items() if count > 0 for value in (key, count)]
        unused = [key for key, count in changed.items() if count <= 0]
        write_rows(self.connection, CLAIMS.many("save_limit_usage"), 2, saved)
        write_rows(self.connection, CLAIMS.many("delete_limit_usage"), 1, unused)
        self._changed_usage = set()

    def _find_group(self, spec: JobSpec) -> LimitGroup:
        queue, task = spec.queue, spec.task
        lane = self.groups.lane(queue, task)
        if lane is None:
            lane = self._make_lane(queue, task)
        limits, rate = limits_to_text(spec.limits), rate_to_text(spec.rate)
        found = self.execute(JOBS.group_by_kind, (lane, limits, rate)).fetchone()
        if found is None:
            self._group += 1
            self.execute(JOBS.make_group, (self._group, lane, limits, rate))
        number = self._group if found is None else found[0]
        group = LimitGroup(number, lane, (queue, task, spec.limits, spec.rate))
        self.groups.learn(group)
        return group

    def _make_lane(self, queue: str, task: str) -> int:
        self._group += 1
        self.execute(JOBS.make_lane, (self._group, queue, task))
        self.execute(JOBS.make_group, (self._group, self._group, "", ""))
        self.groups.add_lane(queue, task, self._group)
        return self._group
