"""Retention: the SQLite store's forgetting."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from drumbeat.model.job import Status
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.totals import ENDED
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_microseconds
from drumbeat.sqlite.news import JOBS as JOBS_NEWS
from drumbeat.stores.sqlite.admission import Admission
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment, moment
from drumbeat.stores.sqlite.session import COLUMN, StoreSession
from drumbeat.stores.sqlite.sql import AUDIT, QUEUES, RETENTION, listed


class SqliteRetention:
    """Forgetting, in bounded steps."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget jobs that ended so long ago, and whose dedupe key stands for nothing any more."""
        now, age = moment(self._clock, at), to_microseconds(older_than)
        return await self._database.write(
            lambda session: _prune_jobs(session, now, now.number - age, limit)
        )

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget ledger rows of that age, but never the last row of a schedule."""
        before = moment(self._clock, at).number - to_microseconds(older_than)
        return await self._forget(RETENTION.forget_ticks, before, limit)

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget nodes whose heartbeat ended so long ago."""
        before = moment(self._clock, at).number - to_microseconds(older_than)
        return await self._forget(RETENTION.forget_nodes, before, limit)

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget entries of the audit log of that age, the oldest first."""
        before = moment(self._clock, at).number - to_microseconds(older_than)
        return await self._forget(AUDIT.forget, before, limit)

    async def _forget(self, statement: str, before: int, limit: int) -> int:
        def step(session: StoreSession) -> int:
            session.flush_rows()
            return session.execute(statement, (before, limit)).rowcount

        return await self._database.write(step)


def _prune_jobs(session: StoreSession, now: Moment, ended_before: int, limit: int) -> int:
    session.flush_rows()
    session.execute(RETENTION.forget_starts, (now.number,))
    session.execute(RETENTION.forget_paces, (now.number,))
    pruned, released = 0, limit
    lanes: set[int] = set()
    while pruned < limit and released == limit:
        released = session.execute(RETENTION.release_keys, (now.number, limit)).rowcount
        found = session.execute(RETENTION.old_jobs, (ended_before, limit - pruned)).fetchall()
        if found:
            pruned += len(found)
            lanes |= _forget_jobs(session, found)
    session.flush()
    _forget_lines(session, now, lanes, limit)
    return pruned


def _forget_jobs(session: StoreSession, found: list[tuple[int, int, str]]) -> set[int]:
    """Forget jobs; return the lanes that they were in."""
    ids = listed([job_id for job_id, _, _ in found])
    session.execute(RETENTION.delete_attempts, (ids,))
    session.execute(RETENTION.delete_finished, (ids,))
    session.execute(RETENTION.delete_jobs, (ids,))
    lanes: set[int] = set()
    ends: dict[str, Counter[Status]] = {}
    for _, number, ended in found:
        line, status = session.lines.get(session.connection, number), Status(ended)
        lanes.add(line.lane)
        ends.setdefault(line.queue, Counter())[status] += 1
        session.count(line.lane, COLUMN[status], -1)
        session.name_line(line, -1)
    for queue, statuses in ends.items():
        session.execute(QUEUES.remember, (queue, *(statuses[status] for status in ENDED)))
    return lanes


def _forget_lines(session: StoreSession, now: Moment, lanes: set[int], limit: int) -> None:
    """Forget lines that no job names any more, whoever left them, and lanes that are empty."""
    numbers = [number for (number,) in session.execute(RETENTION.unnamed_lines, (limit,))]
    if numbers:
        session.lines.load(session.connection, numbers)
        lines = {number: session.lines.get(session.connection, number) for number in numbers}
        lanes |= {line.lane for line in lines.values()}
        fronts = session.execute(RETENTION.delete_unnamed_fronts, (listed(numbers),)).fetchall()
        _let_in_the_next(session, [lines[number] for (number,) in fronts], now)
        session.execute(RETENTION.delete_lines, (listed(numbers),))
    if not lanes:
        return
    empty = [lane for (lane,) in session.execute(RETENTION.empty_lanes, (listed(lanes),))]
    session.execute(RETENTION.delete_lanes, (listed(empty),))
    session.execute(RETENTION.delete_lines, (listed(empty),))
    if numbers or empty:
        session.generation += 1
        session.lines.forget()


def _let_in_the_next(session: StoreSession, lines: list[Line], now: Moment) -> None:
    """Lines were out of sight behind the ones that are forgotten: let them take their turn."""
    admission = Admission(session)
    admission.prepare(lines)
    for line in lines:
        if list(admission.replace(line, now)):
            session.news |= JOBS_NEWS
