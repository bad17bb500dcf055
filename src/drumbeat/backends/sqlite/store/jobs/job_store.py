"""The SQLite store's `JobStore`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from drumbeat.backends.sqlite.connection.calls import DeferredResult
from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import (
    moment,
    to_instant,
    to_instant_or_none,
    to_microseconds,
)
from drumbeat.backends.sqlite.store.jobs.claim import Claim
from drumbeat.backends.sqlite.store.jobs.insertion import insert, insert_together
from drumbeat.backends.sqlite.store.jobs.job_list import JobQuery
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup, LimitGroups
from drumbeat.backends.sqlite.store.jobs.rows import JobRow, held_attempt, job_of
from drumbeat.backends.sqlite.store.jobs.settlement import SettlementBatch
from drumbeat.backends.sqlite.store.jobs.transitions import cancel, expire, promote, reopen
from drumbeat.backends.sqlite.store.queues import counts_by_queue
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import JOBS, NODES, VIEWS, json_list, next_expiry, soonest
from drumbeat.backends.store_rules import HISTORY, check_settlements, check_times, page_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs import job as jobs
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At

JOBS_BY_ID = VIEWS.jobs % "jobs.id IN (SELECT value FROM json_each(?))"
HELD_BY = VIEWS.jobs % f"jobs.id IN ({VIEWS.held_by}) ORDER BY jobs.id"
LOST = VIEWS.jobs % f"jobs.id IN ({VIEWS.lost}) ORDER BY jobs.id"

new_taken = fast_constructor(jobs.Taken)


class SqliteJobs:
    """Jobs, and the holds on them."""

    def __init__(self, database: Database[StoreSession], clock: Clock, groups: LimitGroups) -> None:
        self._database = database
        self._clock = clock
        self._groups = groups

    async def insert(
        self, specs: Sequence[jobs.JobSpec], at: At = None
    ) -> Sequence[jobs.Inserted | jobs.Duplicate]:
        check_times(specs)
        if at is None:
            return await self._database.write_jointly(insert_together, specs)
        return await self._database.write(
            lambda session: insert(session, specs, session.moment(at))
        )

    async def promote(self, limit: int, at: At = None) -> jobs.Promoted:
        now = moment(self._clock, at)
        next_due = await self._database.read(soonest)
        if next_due is None or next_due > now.number:  # mostly so: there is nothing to write
            return jobs.Promoted((), to_instant_or_none(next_due))
        return await self._database.write(
            lambda session: promote(session, limit, session.moment(at))
        )

    async def expire(self, limit: int, at: At = None) -> jobs.ExpiredJobs:
        now = moment(self._clock, at)
        next_at = await self._database.read(next_expiry)
        if next_at is None or next_at > now.number:  # mostly so: there is nothing to write
            return jobs.ExpiredJobs((), to_instant_or_none(next_at))

        def step(session: StoreSession) -> jobs.ExpiredJobs:
            expired = expire(session, limit, session.moment(at))
            return jobs.ExpiredJobs(
                tuple(expired), to_instant_or_none(next_expiry(session.connection))
            )

        return await self._database.write(step)

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> jobs.Promoted:
        since = moment(self._clock, at).number - to_microseconds(queued_for)

        def question(connection: sqlite3.Connection) -> jobs.Promoted:
            rows = connection.execute(JOBS.stale, (since, limit))
            tickets = tuple(
                jobs.Ticket(JobId(number), queue, -rank) for number, queue, rank in rows
            )
            return jobs.Promoted(tickets, to_instant_or_none(soonest(connection)))

        return await self._database.read(question)

    async def take(
        self,
        wanted: jobs.Wanted,
        by: NodeId,
        settled: Sequence[jobs.Settlement] = (),
        at: At = None,
    ) -> jobs.Taken:
        check_settlements(settled)

        def step(session: StoreSession) -> DeferredResult[jobs.Taken]:
            now = session.moment(at)
            batch = SettlementBatch(session, now)
            batch.run(settled)
            claim = Claim(session, by, now)
            claim.run(wanted)
            return DeferredResult(
                lambda: new_taken(
                    claim.attempts(),
                    tuple(batch.verdicts()),
                    tuple(claim.cancelled),
                    claim.try_at,
                    tuple(claim.expired),
                )
            )

        return await self._database.write(step)

    async def settle(
        self, settlements: Sequence[jobs.Settlement], at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        check_settlements(settlements)

        def step(session: StoreSession) -> Sequence[jobs.Settled | jobs.Superseded]:
            batch = SettlementBatch(session, session.moment(at))
            batch.run(settlements)
            return batch.verdicts()

        return await self._database.write(step)

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[jobs.Cancelled | jobs.CancelRequested | jobs.TooLate]:
        return await self._database.write(
            lambda session: cancel(session, job_ids, reason, session.moment(at))
        )

    async def reopen(
        self, job_ids: Sequence[JobId], at: At = None
    ) -> Sequence[jobs.Reopened | jobs.TooLate]:
        return await self._database.write(
            lambda session: reopen(session, job_ids, session.moment(at))
        )

    async def lost(self, limit: int, at: At = None) -> Sequence[jobs.Attempt]:
        now = moment(self._clock, at).number
        return await self._database.read(
            lambda connection: self._attempts(connection, LOST, (now, limit))
        )

    async def reap(
        self, settlements: Sequence[jobs.Settlement], node: NodeId, at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        check_settlements(settlements)

        def step(session: StoreSession) -> Sequence[jobs.Settled | jobs.Superseded]:
            now = session.moment(at)
            if session.execute(NODES.lives, (node, now.number)).fetchone():
                return [jobs.Superseded(settlement.hold) for settlement in settlements]
            batch = SettlementBatch(session, now)
            batch.run(settlements)
            return batch.verdicts()

        return await self._database.write(step)

    async def held(self, by: NodeId) -> Sequence[jobs.Attempt]:
        return await self._database.read(
            lambda connection: self._attempts(connection, HELD_BY, (by,))
        )

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[jobs.Job | None]:
        def question(connection: sqlite3.Connection) -> Sequence[jobs.Job | None]:
            rows = connection.execute(JOBS_BY_ID, (json_list(job_ids),))
            found = {job.id: job for job in self._jobs(connection, rows)}
            return [found.get(job_id) for job_id in job_ids]

        return await self._database.read(question)

    async def list(self, wanted: jobs.JobFilter, page: PageRequest) -> Page[jobs.Job]:
        query = JobQuery(wanted, page)

        def question(connection: sqlite3.Connection) -> Page[jobs.Job]:
            query.narrow(connection)
            rows = connection.execute(query.text, query.values)
            found = self._jobs(connection, rows)
            return page_of(found, page.size, "job", lambda job: job.id)

        return await self._database.view(question)

    async def attempts(self, job_id: JobId) -> Sequence[jobs.AttemptRecord]:
        return await self._database.view(lambda connection: _history(connection, job_id))

    async def counts(self) -> Mapping[str, Mapping[jobs.Status, int]]:
        return await self._database.view(counts_by_queue)

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        asked = (json.dumps(list(queues)), json.dumps(list(known)), limit)
        return await self._database.read(
            lambda connection: [
                str(task) for (task,) in connection.execute(VIEWS.unknown_tasks, asked)
            ]
        )

    def _jobs(self, connection: sqlite3.Connection, found: Iterable[Any]) -> Sequence[jobs.Job]:
        return [job_of(row, group) for row, group in self._with_groups(connection, found)]

    def _attempts(
        self, connection: sqlite3.Connection, text: str, values: tuple[object, ...]
    ) -> Sequence[jobs.Attempt]:
        rows = self._with_groups(connection, connection.execute(text, values))
        return [held_attempt(row, group) for row, group in rows]

    def _with_groups(
        self, connection: sqlite3.Connection, found: Iterable[Any]
    ) -> Iterator[tuple[JobRow, LimitGroup]]:
        rows = list(map(JobRow._make, found))
        self._groups.load(connection, (row.limit_group for row in rows))
        return ((row, self._groups.get(connection, row.limit_group)) for row in rows)


def _history(connection: sqlite3.Connection, job_id: JobId) -> Sequence[jobs.AttemptRecord]:
    rows = connection.execute(VIEWS.attempts, {"job": job_id}).fetchall()
    return [
        jobs.AttemptRecord(
            *(number, fence, NodeId(node), to_instant(started_at), to_instant(ended_at)),
            *(jobs.Change(change), error),
        )
        for number, fence, node, started_at, ended_at, change, error in rows[-HISTORY:]
    ]
