"""Jobs: the SQLite store's `JobStore`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import timedelta

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import (
    Attempt,
    AttemptRecord,
    Cancelled,
    CancelRequested,
    Change,
    Duplicate,
    Inserted,
    Job,
    JobFilter,
    JobSpec,
    Promoted,
    Reopened,
    Settled,
    Settlement,
    Status,
    Superseded,
    Taken,
    Ticket,
    TooLate,
    Wanted,
)
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.swift import swift
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.paging import place
from drumbeat.sqlite.calls import Draft
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_instant, to_instant_or_none, to_microseconds
from drumbeat.stores.sqlite.cancelling import cancel, reopen
from drumbeat.stores.sqlite.claims import Claim
from drumbeat.stores.sqlite.creating import check_times, insert, insert_jointly
from drumbeat.stores.sqlite.filtering import Filter
from drumbeat.stores.sqlite.lines import Lines
from drumbeat.stores.sqlite.moment import check_at, moment
from drumbeat.stores.sqlite.promoting import promote
from drumbeat.stores.sqlite.rows import LINE, Row, held_attempt, job_of
from drumbeat.stores.sqlite.session import STATUSES, StoreSession
from drumbeat.stores.sqlite.settling import HISTORY, Settling, check_settlements
from drumbeat.stores.sqlite.sql import JOBS, NODES, VIEWS, listed

JOBS_BY_ID = VIEWS.jobs % "jobs.id IN (SELECT value FROM json_each(?))"
HELD_BY = VIEWS.held % "WHERE running.node = ? ORDER BY running.id"
LOST = VIEWS.held % (
    "LEFT JOIN nodes ON nodes.id = running.node"
    " WHERE nodes.id IS NULL OR nodes.expires_at <= ? ORDER BY running.id LIMIT ?"
)

new_taken = swift(Taken)


class SqliteJobs:
    """Jobs, and the holds on them."""

    def __init__(self, database: Database[StoreSession], clock: Clock, lines: Lines) -> None:
        self._database = database
        self._clock = clock
        self._lines = lines

    async def insert(
        self, specs: Sequence[JobSpec], at: At = None
    ) -> Sequence[Inserted | Duplicate]:
        """Create jobs, but for those whose dedupe key is taken."""
        check_times(specs)
        if at is None:
            return await self._database.write_jointly(insert_jointly, specs)
        check_at(at)
        return await self._database.write(
            lambda session: insert(session, specs, session.moment(at))
        )

    async def promote(self, limit: int, at: At = None) -> Promoted:
        """Queue pending jobs whose time has come."""
        now = moment(self._clock, at)
        soonest = await self._database.read(_soonest)
        if soonest is None or soonest > now.number:  # as nearly always: nothing to write
            return Promoted((), to_instant_or_none(soonest))
        return await self._database.write(
            lambda session: promote(session, limit, session.moment(at))
        )

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> Promoted:
        """Tickets of jobs that have been queued for so long."""
        since = moment(self._clock, at).number - to_microseconds(queued_for)

        def question(connection: sqlite3.Connection) -> Promoted:
            rows = connection.execute(JOBS.stale, (since, limit))
            tickets = tuple(Ticket(JobId(number), queue) for number, queue in rows)
            return Promoted(tickets, to_instant_or_none(_soonest(connection)))

        return await self._database.read(question)

    async def take(
        self,
        wanted: Wanted,
        by: NodeId,
        settled: Sequence[Settlement] = (),
        at: At = None,
    ) -> Taken:
        """Settle the last batch, then claim the next."""
        check_at(at)
        check_settlements(settled)

        def step(session: StoreSession) -> Draft[Taken]:
            now = session.moment(at)
            session.flush_rows()
            settling = Settling(session, now)
            settling.run(settled)
            claim = Claim(session, by, now)
            claim.run(wanted)
            return Draft(
                lambda: new_taken(
                    claim.attempts(),
                    tuple(settling.verdicts()),
                    tuple(claim.cancelled),
                    claim.try_at,
                )
            )

        return await self._database.write(step)

    async def settle(
        self, settlements: Sequence[Settlement], at: At = None
    ) -> Sequence[Settled | Superseded]:
        """Close each attempt whose hold is current."""
        check_at(at)
        check_settlements(settlements)

        def step(session: StoreSession) -> Sequence[Settled | Superseded]:
            session.flush_rows()
            settling = Settling(session, session.moment(at))
            settling.run(settlements)
            return settling.verdicts()

        return await self._database.write(step)

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[Cancelled | CancelRequested | TooLate]:
        """End waiting jobs as cancelled; mark running ones."""
        check_at(at)
        return await self._database.write(
            lambda session: cancel(session, job_ids, reason, session.moment(at))
        )

    async def reopen(self, job_ids: Sequence[JobId], at: At = None) -> Sequence[Reopened | TooLate]:
        """Queue failed or cancelled jobs again."""
        check_at(at)
        return await self._database.write(
            lambda session: reopen(session, job_ids, session.moment(at))
        )

    async def lost(self, limit: int, at: At = None) -> Sequence[Attempt]:
        """Running attempts whose node's heartbeat is over, or unknown."""
        now = moment(self._clock, at).number
        return await self._database.read(
            lambda connection: self._attempts(connection, LOST, (now, limit))
        )

    async def reap(
        self, settlements: Sequence[Settlement], node: NodeId, at: At = None
    ) -> Sequence[Settled | Superseded]:
        """Close attempts of a node that is dead; of one that lives, none."""
        check_at(at)
        check_settlements(settlements)

        def step(session: StoreSession) -> Sequence[Settled | Superseded]:
            now = session.moment(at)
            if session.execute(NODES.lives, (node, now.number)).fetchone():
                return [Superseded(settlement.hold) for settlement in settlements]
            session.flush_rows()
            settling = Settling(session, now)
            settling.run(settlements)
            return settling.verdicts()

        return await self._database.write(step)

    async def held(self, by: NodeId) -> Sequence[Attempt]:
        """Running attempts of one node."""
        return await self._database.read(
            lambda connection: self._attempts(connection, HELD_BY, (by,))
        )

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[Job | None]:
        """The jobs of these ids."""

        def question(connection: sqlite3.Connection) -> Sequence[Job | None]:
            rows = connection.execute(JOBS_BY_ID, (listed(job_ids),)).fetchall()
            found = {job.id: job for job in self._jobs(connection, rows)}
            return [found.get(job_id) for job_id in job_ids]

        return await self._database.read(question)

    async def list(self, wanted: JobFilter, page: PageRequest) -> Page[Job]:
        """Jobs that match every given field of the filter, newest first."""
        query = Filter(wanted, page)

        def question(connection: sqlite3.Connection) -> Page[Job]:
            query.narrow(connection)
            rows = connection.execute(query.text, query.values).fetchall()
            jobs = tuple(self._jobs(connection, rows[: page.size]))
            return Page(jobs, place("job", jobs[-1].id) if len(rows) > page.size else None)

        return await self._database.view(question)

    async def attempts(self, job_id: JobId) -> Sequence[AttemptRecord]:
        """The ended attempts of a job, oldest first."""
        return await self._database.view(lambda connection: _history(connection, job_id))

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """How many jobs of each queue stand where."""

        def question(connection: sqlite3.Connection) -> Mapping[str, Mapping[Status, int]]:
            return {
                queue: {
                    status: count for status, count in zip(STATUSES, counts, strict=True) if count
                }
                for queue, *counts in connection.execute(VIEWS.counts)
                if any(counts)
            }

        return await self._database.view(question)

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        """Names of tasks that wait, queued, in these queues and are not among the known."""
        asked = (json.dumps(list(queues)), json.dumps(list(known)), limit)
        return await self._database.read(
            lambda connection: [
                str(task) for (task,) in connection.execute(VIEWS.unknown_tasks, asked)
            ]
        )

    def _jobs(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> Sequence[Job]:
        self._lines.load(connection, (row[LINE] for row in rows))
        return [job_of(row, self._lines.get(connection, row[LINE])) for row in rows]

    def _attempts(
        self, connection: sqlite3.Connection, text: str, values: tuple[object, ...]
    ) -> Sequence[Attempt]:
        rows = connection.execute(text, values).fetchall()
        self._lines.load(connection, (row[LINE] for row in rows))
        return [held_attempt(row, self._lines.get(connection, row[LINE])) for row in rows]


def _soonest(connection: sqlite3.Connection) -> int | None:
    found = connection.execute(JOBS.soonest).fetchone()
    return int(found[0]) if found else None


def _history(connection: sqlite3.Connection, job_id: JobId) -> Sequence[AttemptRecord]:
    rows: list[Row] = connection.execute(VIEWS.attempts, (job_id,)).fetchall()
    completion = connection.execute(VIEWS.completion, (job_id,)).fetchone()
    if completion is not None:
        number, fence, node, started_at, finished_at, error = completion
        rows.append((number, fence, node, started_at, finished_at, Change.COMPLETE.value, error))
    return [
        AttemptRecord(
            number,
            fence,
            NodeId(node),
            to_instant(started_at),
            to_instant(ended_at),
            Change(change),
            error,
        )
        for number, fence, node, started_at, ended_at, change, error in rows[-HISTORY:]
    ]
