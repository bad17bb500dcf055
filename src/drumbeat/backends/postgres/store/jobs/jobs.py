"""Jobs: the PostgreSQL store's `JobStore`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.jobs.alike_insertion import (
    AlikeInsertion,
    created_job,
    new_inserted,
)
from drumbeat.backends.postgres.store.jobs.claims import Claims
from drumbeat.backends.postgres.store.jobs.job_row import JobRow, held_attempt, job_of
from drumbeat.backends.postgres.store.jobs.lanes import Lanes
from drumbeat.backends.postgres.store.jobs.list_query import ListQuery
from drumbeat.backends.postgres.store.jobs.new_jobs import JobBatch
from drumbeat.backends.postgres.store.jobs.settlement_batch import SettlementBatch
from drumbeat.backends.postgres.store.jobs.tallies import Tallies
from drumbeat.backends.postgres.store.statements import JOBS, LISTS
from drumbeat.backends.postgres.store.storable_text import readable
from drumbeat.backends.postgres.store.time import checked, to_microseconds
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs import job as jobs
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.page_position import place

HISTORY = 100
"""How many ended attempts of a job are remembered."""

Verdict = TypeVar("Verdict")


class PostgresJobs:
    """Jobs, and the holds on them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._sql = JOBS.of(database.names)
        self._lists = LISTS.of(database.names)
        self._lanes = Lanes(database, self._sql)
        self._alike = AlikeInsertion(database, self._sql)
        self._claims = Claims(database, self._sql, self._lanes, clock)
        self._tallies = Tallies(database)

    async def insert(
        self, specs: Sequence[jobs.JobSpec], at: At = None
    ) -> Sequence[jobs.Inserted | jobs.Duplicate]:
        if not specs:
            return []
        batch = JobBatch(specs)
        kind = batch.alike
        if kind is not None:
            return await self._alike.insert(kind, specs, checked(at))
        ((moment, ids, standing),) = await self._database.fetch(
            self._sql.insert, batch.new_jobs, checked(at)
        )
        verdicts: list[jobs.Inserted | jobs.Duplicate | None] = [
            None if job_id is None else new_inserted(created_job(job_id, spec, moment))
            for spec, job_id in zip(specs, ids, strict=True)
        ]
        if standing is not None:
            await self._add_duplicates(verdicts, specs, standing, at)
        return [verdict for verdict in verdicts if verdict is not None]

    async def promote(self, limit: int, at: At = None) -> jobs.Promoted:
        rows = await self._database.fetch(self._sql.promote, limit, checked(at))
        *ready, last = rows
        return jobs.Promoted(tuple(map(_new_ticket, ready)), last["next_at"])

    async def expire(self, limit: int, at: At = None) -> jobs.ExpiredJobs:
        ((expired, next_at),) = await self._database.fetch(self._sql.expire, limit, checked(at))
        return jobs.ExpiredJobs(tuple(map(JobId, expired)), next_at)

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> jobs.Promoted:
        rows = await self._database.fetch(
            self._sql.stale, checked(at), to_microseconds(queued_for), limit
        )
        tickets = tuple(_new_ticket(row) for row in rows if row["id"])
        return jobs.Promoted(tickets, rows[0]["next_at"])

    async def take(
        self,
        wanted: jobs.Wanted,
        by: NodeId,
        settled: Sequence[jobs.Settlement] = (),
        at: At = None,
    ) -> jobs.Taken:
        return await self._claims.take(wanted, by, settled, checked(at))

    async def settle(
        self, settlements: Sequence[jobs.Settlement], at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        batch = SettlementBatch(settlements)
        if not settlements:
            return []
        verdicts = await self._database.fetch_value(
            self._sql.settle, batch.settlements, checked(at)
        )
        return batch.verdicts(verdicts)

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[jobs.Cancelled | jobs.CancelRequested | jobs.TooLate]:
        ids = sorted(set(job_ids))
        before = await self._database.fetch_value(
            self._sql.cancel, ids, readable(reason), checked(at)
        )
        return _in_order(job_ids, dict(zip(ids, before, strict=True)), _cancelled, "cancelled")

    async def reopen(
        self, job_ids: Sequence[JobId], at: At = None
    ) -> Sequence[jobs.Reopened | jobs.TooLate]:
        ids = sorted(set(job_ids))
        before = await self._database.fetch_value(self._sql.reopen, ids, checked(at))
        return _in_order(job_ids, dict(zip(ids, before, strict=True)), _reopened, "queued")

    async def lost(self, limit: int, at: At = None) -> Sequence[jobs.Attempt]:
        dead = [node for (node,) in await self._database.fetch(self._sql.dead_nodes, checked(at))]
        return await self._held(dead, limit) if dead else []

    async def reap(
        self, settlements: Sequence[jobs.Settlement], node: NodeId, at: At = None
    ) -> Sequence[jobs.Settled | jobs.Superseded]:
        batch = SettlementBatch(settlements)
        if not settlements:
            return []
        ((alive, verdicts),) = await self._database.fetch(
            self._sql.reap, node, batch.settlements, checked(at)
        )
        if alive:
            return [jobs.Superseded(settlement.hold) for settlement in settlements]
        return batch.verdicts(verdicts)

    async def held(self, by: NodeId) -> Sequence[jobs.Attempt]:
        return await self._held([by], None)

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[jobs.Job | None]:
        text = (
            f"{self._sql.unfinished} WHERE id = ANY ($1) UNION ALL "
            f"{self._sql.finished} WHERE id = ANY ($1)"
        )
        rows = await self._database.fetch(text, list(job_ids))
        found = {job.id: job for job in await self._jobs(rows)}
        return [found.get(job_id) for job_id in job_ids]

    async def list(self, wanted: jobs.JobFilter, page: PageRequest) -> Page[jobs.Job]:
        query = ListQuery(wanted, page, self._lists)
        async with self._database.borrow() as connection, connection.transaction():
            await connection.execute(self._lists.in_order)
            rows = await connection.fetch(query.text(self._sql), *query.values)
        found = await self._jobs(rows[: page.size])
        more = len(rows) > page.size
        return Page(tuple(found), place("job", found[-1].id) if more else None)

    async def attempts(self, job_id: JobId) -> Sequence[jobs.AttemptRecord]:
        rows = await self._database.fetch(self._sql.attempts, job_id)
        return [
            jobs.AttemptRecord(
                number, fence, NodeId(node), started, ended, jobs.Change(change), error
            )
            for number, fence, node, started, ended, change, error in rows[-HISTORY:]
        ]

    async def counts(self) -> Mapping[str, Mapping[jobs.Status, int]]:
        return await self._tallies.counts()

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        rows = await self._database.fetch(self._sql.unknown_tasks, list(queues), list(known), limit)
        return [task for (task,) in rows]

    async def _add_duplicates(
        self,
        verdicts: builtins.list[jobs.Inserted | jobs.Duplicate | None],
        specs: Sequence[jobs.JobSpec],
        standing: Sequence[JobId | None],
        at: At,
    ) -> None:
        """Add a verdict for each job that was not created, with the job that stands for its key."""
        places = [place for place, verdict in enumerate(verdicts) if verdict is None]
        found = await self.get([job_id for job_id in standing if job_id is not None])
        for place_, job in zip(places, found, strict=True):
            if job is not None:
                verdicts[place_] = jobs.Duplicate(job)
            else:  # it was pruned meanwhile, so its key is free
                (verdicts[place_],) = await self.insert([specs[place_]], at)

    async def _held(self, nodes: Sequence[str], limit: int | None) -> Sequence[jobs.Attempt]:
        text = (
            f"{self._sql.unfinished} WHERE status = 'running' AND node = ANY ($1)"
            " ORDER BY id LIMIT $2"
        )
        rows = await self._database.fetch(text, list(nodes), limit)
        found = [JobRow(*row) for row in rows]
        lanes = await self._lanes.load(row.lane for row in found)
        return [held_attempt(row, lanes) for row in found]

    async def _jobs(self, rows: Sequence[Record]) -> Sequence[jobs.Job]:
        found = [JobRow(*row) for row in rows]
        lanes = await self._lanes.load(row.lane for row in found)
        return [job_of(row, lanes) for row in found]


def _in_order(
    job_ids: Sequence[JobId],
    before: dict[JobId, str | None],
    judge: Callable[[JobId, str | None], Verdict],
    after: str,
) -> list[Verdict]:
    """The verdicts in the order asked for; the second time, a job has the new status."""
    verdicts: list[Verdict] = []
    for job_id in job_ids:
        verdict = judge(job_id, before[job_id])
        if not isinstance(verdict, jobs.TooLate | jobs.CancelRequested):
            before[job_id] = after
        verdicts.append(verdict)
    return verdicts


def _cancelled(
    job_id: JobId, before: str | None
) -> jobs.Cancelled | jobs.CancelRequested | jobs.TooLate:
    if before in {"pending", "queued"}:
        return jobs.Cancelled(job_id)
    if before == "running":
        return jobs.CancelRequested(job_id)
    return jobs.TooLate(job_id, None if before is None else jobs.Status(before))


def _reopened(job_id: JobId, before: str | None) -> jobs.Reopened | jobs.TooLate:
    if before in {"failed", "cancelled"}:
        return jobs.Reopened(job_id)
    return jobs.TooLate(job_id, None if before is None else jobs.Status(before))


def _new_ticket(row: Record) -> jobs.Ticket:
    return jobs.Ticket(JobId(row["id"]), row["queue"], -row["rank"])
