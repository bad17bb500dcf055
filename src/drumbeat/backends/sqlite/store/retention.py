"""Retention: the SQLite store's pruning."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import Moment, moment, to_microseconds
from drumbeat.backends.sqlite.store.jobs.admission import Admission
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.session import COLUMN, StoreSession
from drumbeat.backends.sqlite.store.sql import AUDIT, QUEUES, RETENTION, json_list
from drumbeat.model.jobs.job import Status
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.jobs.totals import ENDED


class SqliteRetention:
    """Deletes what is old, in bounded steps."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        now, age = moment(self._clock, at), to_microseconds(older_than)
        return await self._database.write(
            lambda session: _prune_jobs(session, now, now.number - age, limit)
        )

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        return await self._delete(RETENTION.delete_ticks, older_than, limit, at)

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        return await self._delete(RETENTION.delete_nodes, older_than, limit, at)

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        return await self._delete(AUDIT.delete_old, older_than, limit, at)

    async def _delete(self, statement: str, older_than: timedelta, limit: int, at: At) -> int:
        before = moment(self._clock, at).number - to_microseconds(older_than)

        def step(session: StoreSession) -> int:
            session.flush_rows()
            return session.execute(statement, (before, limit)).rowcount

        return await self._database.write(step)


def _prune_jobs(session: StoreSession, now: Moment, ended_before: int, limit: int) -> int:
    session.flush_rows()
    session.execute(RETENTION.delete_starts, (now.number,))
    released = limit
    found = session.execute(RETENTION.outlived_jobs, (now.number, limit)).fetchall()
    pruned = len(found)
    lanes = _delete_jobs(session, found) if found else set[int]()
    while pruned < limit and released == limit:
        released = session.execute(RETENTION.release_keys, (now.number, limit)).rowcount
        found = session.execute(RETENTION.old_jobs, (ended_before, limit - pruned)).fetchall()
        if found:
            pruned += len(found)
            lanes |= _delete_jobs(session, found)
    session.flush()
    _delete_groups(session, now, lanes, limit)
    return pruned


def _delete_jobs(session: StoreSession, found: list[tuple[int, int, str]]) -> set[int]:
    """Delete jobs, given by id, limit group and status; return their lanes."""
    ids = json_list([job_id for job_id, _, _ in found])
    session.execute(RETENTION.delete_attempts, (ids,))
    session.execute(RETENTION.delete_finished, (ids,))
    session.execute(RETENTION.delete_expiring, (ids,))
    session.execute(RETENTION.delete_jobs, (ids,))
    lanes: set[int] = set()
    ends: dict[str, Counter[Status]] = {}
    for _, number, ended in found:
        group, status = session.groups.get(session.connection, number), Status(ended)
        lanes.add(group.lane)
        ends.setdefault(group.queue, Counter())[status] += 1
        session.count(group.lane, COLUMN[status], -1)
        session.count_in_group(group, -1)
    for queue, statuses in ends.items():
        session.execute(QUEUES.remember, (queue, *(statuses[status] for status in ENDED)))
    return lanes


def _delete_groups(session: StoreSession, now: Moment, lanes: set[int], limit: int) -> None:
    """Delete limit groups and lanes that have no jobs left."""
    numbers = [number for (number,) in session.execute(RETENTION.unused_groups, (limit,))]
    if numbers:
        session.groups.load(session.connection, numbers)
        groups = {number: session.groups.get(session.connection, number) for number in numbers}
        lanes |= {group.lane for group in groups.values()}
        fronts = session.execute(RETENTION.delete_unused_fronts, (json_list(numbers),)).fetchall()
        _open_next(session, [groups[number] for (number,) in fronts], now)
        session.execute(RETENTION.delete_groups, (json_list(numbers),))
    if not lanes:
        return
    empty = [lane for (lane,) in session.execute(RETENTION.empty_lanes, (json_list(lanes),))]
    session.execute(RETENTION.delete_lanes, (json_list(empty),))
    session.execute(RETENTION.delete_groups, (json_list(empty),))
    if numbers or empty:
        session.generation += 1
        session.groups.forget()


def _open_next(session: StoreSession, deleted: list[LimitGroup], now: Moment) -> None:
    """Open groups that were parked behind the deleted ones."""
    admission = Admission(session)
    admission.prepare(deleted)
    for group in deleted:
        if list(admission.open_next(group, now)):
            session.hints |= topics.JOBS
