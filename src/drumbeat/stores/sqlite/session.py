"""The session: what the steps of one transaction share.

New rows gather here and are written together, before the first step that could look for them and
at the latest before the commit: a hundred callers with a job each become one statement. The same
goes for counts, of which only the sum over the whole transaction is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from drumbeat.model.document import limits_to_text, rate_to_text
from drumbeat.model.ids import JobId
from drumbeat.model.instant import aware
from drumbeat.model.job import JobSpec, Status
from drumbeat.ports.clock import Clock
from drumbeat.sqlite.messenger import Messenger
from drumbeat.sqlite.news import JOBS as JOBS_NEWS
from drumbeat.sqlite.news import TIMES
from drumbeat.stores.sqlite.arrivals import Arrivals
from drumbeat.stores.sqlite.lines import Line, Lines
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import shared_of
from drumbeat.stores.sqlite.sql import CLAIMS, JOBS, SCHEDULES, read_rows, write_rows

STATUSES = tuple(Status)
"""In the order of the columns that count them."""
COLUMN = {status: column for column, status in enumerate(STATUSES)}
PENDING, QUEUED, RUNNING = (COLUMN[each] for each in STATUSES[:3])


class StoreSession:
    """One transaction of the store, in the writer's thread."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: Clock,
        lines: Lines,
        messenger: Messenger,
    ) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.lines = lines
        self._clock = clock
        self._messenger = messenger
        self._now: Moment | None = None
        self.news = 0

    def start(self) -> None:
        """The transaction has begun, or has gone back to where a step began."""
        row: tuple[int, int, int, int, int, int, int] = self.execute(JOBS.counters).fetchone()
        self._kept = row[:4]
        self._job, self._tick, self._line, self.generation = self._kept
        self.fronts, self.openings, self.paused = row[4:]
        self.lines.refresh(self.connection, self._line, self.generation)
        self._arrivals = Arrivals()
        self._ticked_jobs: list[Any] = []
        self._jobs: list[Any] = []
        self._queued: list[Any] = []
        self._pending: list[Any] = []
        self._fronts: list[Any] = []
        self._ticks: list[Any] = []
        self._tallies: dict[int, list[int]] = {}
        self._named: dict[int, int] = {}
        self._holdings: dict[str, int] = {}
        self._changed_holdings: set[str] = set()
        self._soonest: int | None = None
        self._soonest_known = False

    def flush(self) -> None:
        """Write whatever is still only in memory."""
        self.flush_rows()
        connection = self.connection
        if self._tallies:
            self._flush_tallies()
        if self._named:
            named = [value for each in self._named.items() for value in each]
            write_rows(connection, JOBS.many("count_in_lines"), 2, named)
            self._named = {}
        if self._changed_holdings:
            self._flush_holdings()
        counters = (self._job, self._tick, self._line, self.generation)
        if counters != self._kept:
            self.execute(JOBS.keep_counters, counters)
            self._kept = counters

    def flush_rows(self) -> None:
        """Write the rows that gathered, so that a statement can find them."""
        connection = self.connection
        if self._arrivals:
            self._flush_arrivals()  # before the others, as they ask for
        if self._ticked_jobs:
            write_rows(connection, JOBS.many("insert_ticked_jobs"), 10, self._ticked_jobs)
            self._ticked_jobs = []
        if self._jobs:
            write_rows(connection, JOBS.many("insert_jobs"), 15, self._jobs)
            self._jobs = []
        if self._queued:
            write_rows(connection, JOBS.many("insert_queued"), 5, self._queued)
            self._queued = []
        if self._pending:
            write_rows(connection, JOBS.many("insert_pending"), 2, self._pending)
            self._pending = []
        if self._fronts:
            write_rows(connection, JOBS.many("insert_fronts"), 5, self._fronts)
            self._fronts = []
        if self._ticks:
            write_rows(connection, SCHEDULES.many("record"), 11, self._ticks)
            self._ticks = []

    def forget(self) -> None:
        """The transaction, or the last step of it, was rolled back."""
        self.lines.forget()

    def committed(self) -> None:
        """Tell whoever waits for news of this kind."""
        if self.news:
            self._messenger.tell(self.news)

    def moment(self, at: datetime | None) -> Moment:
        """The instant to judge by: the one given, or that of the transaction."""
        if at is not None:
            return Moment(aware("at", at))
        if self._now is None:
            self._now = Moment(self._clock.now())
        return self._now

    def next_job(self) -> JobId:
        """A number for a new job."""
        self._job += 1
        return JobId(self._job)

    def next_tick(self) -> int:
        """A number for a ledger row of a tick that did not fire."""
        self._tick += 1
        return self._tick

    def line_of(self, spec: JobSpec) -> Line:
        """The line that a job belongs to, made if it is the first."""
        return self.lines.known(spec) or self._find_line(spec)

    def learn_lines(self, specs: Iterable[JobSpec]) -> None:
        """Get ready for many jobs whose lines exist but were not met yet, in few statements."""
        asked: list[Any] = []
        new: list[tuple[JobSpec, int]] = []
        for spec in specs:
            lane = self.lines.lane(spec.queue, spec.task)
            if lane is not None and self.lines.known(spec) is None:
                asked += (len(new), lane, limits_to_text(spec.limits), rate_to_text(spec.rate))
                new.append((spec, lane))
        rows: Iterator[tuple[int, int]] = read_rows(
            self.connection, JOBS.many("lines_by_kind"), 4, asked
        )
        for place, number in rows:
            spec, lane = new[place]
            self.lines.learn(Line(number, lane, (spec.queue, spec.task, spec.limits, spec.rate)))

    def add_plain_job(self, spec: JobSpec, now: int) -> JobId:
        """A new job of the usual kind, to run at once: done here in one go, since most are so."""
        line = self.lines.known(spec) or self._find_line(spec)
        job_id = self._job = self._job + 1
        rank = -spec.priority
        self._arrivals.add(job_id, (line, rank, now, shared_of(spec)), spec.arguments)
        if line.limited:
            self._fronts += (line.id, line.lane, rank, now, job_id)
            self.fronts = 1
        return JobId(job_id)

    def add_ticked_job(self, row: tuple[Any, ...]) -> None:
        """A new job of a schedule, or with a time of its own."""
        self._ticked_jobs += row

    def add_job(self, row: tuple[Any, ...]) -> None:
        """A new job of any kind."""
        self._jobs += row

    def add_tick(self, row: tuple[Any, ...]) -> None:
        """A new row of the ledger."""
        self._ticks += row

    def add_queued(self, line: Line, rank: int, run_at: int, job_id: int, now: int) -> None:
        """A job that may run from now on."""
        self._queued += (line.id, rank, run_at, job_id, now)
        if line.limited:
            self._fronts += (line.id, line.lane, rank, run_at, job_id)
            self.fronts = 1
        self.count(line.lane, QUEUED, 1)
        self.news |= JOBS_NEWS

    def add_pending(self, line: Line, run_at: int, job_id: int) -> None:
        """A job that waits for its time."""
        if not self._soonest_known:
            found = self.execute(JOBS.soonest).fetchone()
            self._soonest, self._soonest_known = (found[0] if found else None), True
        if self._soonest is None or run_at < self._soonest:
            self._soonest = run_at
            self.news |= TIMES
        self._pending += (run_at, job_id)
        self.count(line.lane, PENDING, 1)

    def count(self, lane: int, column: int, change: int) -> None:
        """So many jobs of the lane came to stand there, or left."""
        tally = self._tallies.get(lane)
        if tally is None:
            tally = self._tallies[lane] = [0, 0, 0, 0, 0, 0]
        tally[column] += change

    def name_line(self, line: Line, change: int) -> None:
        """So many jobs came to name the line, or were forgotten; for others, the lane counts."""
        if line.limited:
            self._named[line.id] = self._named.get(line.id, 0) + change

    def load_holdings(self, keys: str) -> None:
        """Get ready to be asked for these keys, given as JSON."""
        for key, running in self.execute(CLAIMS.holdings, (keys,)):
            self._holdings.setdefault(key, running)

    def holding(self, key: str) -> int:
        """How many jobs run under a key that was loaded before."""
        return self._holdings.get(key, 0)

    def hold(self, key: str, change: int) -> None:
        """So many jobs under the key have started, or ended."""
        self._holdings[key] = self._holdings.get(key, 0) + change
        self._changed_holdings.add(key)

    def _flush_arrivals(self) -> None:
        arrivals, self._arrivals = self._arrivals, Arrivals()
        arrivals.write(self.connection)
        for line, jobs in arrivals.counts():
            self.count(line.lane, QUEUED, jobs)
            self.name_line(line, jobs)
        self.news |= JOBS_NEWS

    def _flush_tallies(self) -> None:
        tallies, self._tallies = self._tallies, {}
        if len(tallies) == 1:
            ((lane, tally),) = tallies.items()
            self.execute(JOBS.count_in_lane, (*tally, lane))
            return
        changes = [value for lane, tally in tallies.items() for value in (lane, *tally)]
        write_rows(self.connection, JOBS.many("count_in_lanes"), 7, changes)

    def _flush_holdings(self) -> None:
        changed = [(key, self._holdings[key]) for key in self._changed_holdings]
        kept = [value for each in changed if each[1] > 0 for value in each]
        ended = [key for key, running in changed if running <= 0]
        write_rows(self.connection, CLAIMS.many("keep_holdings"), 2, kept)
        write_rows(self.connection, CLAIMS.many("delete_holdings"), 1, ended)
        self._changed_holdings = set()

    def _find_line(self, spec: JobSpec) -> Line:
        queue, task = spec.queue, spec.task
        lane = self.lines.lane(queue, task)
        if lane is None:
            lane = self._make_lane(queue, task)
        limits, rate = limits_to_text(spec.limits), rate_to_text(spec.rate)
        found = self.execute(JOBS.line, (lane, limits, rate)).fetchone()
        if found is None:
            self._line += 1
            self.execute(JOBS.make_line, (self._line, lane, limits, rate))
        number = self._line if found is None else found[0]
        line = Line(number, lane, (queue, task, spec.limits, spec.rate))
        self.lines.learn(line)
        return line

    def _make_lane(self, queue: str, task: str) -> int:
        self._line += 1
        self.execute(JOBS.make_lane, (self._line, queue, task))
        self.execute(JOBS.make_line, (self._line, self._line, "", ""))
        self.lines.add_lane(queue, task, self._line)
        return self._line
