"""Transitions of jobs that nobody runs: they are cancelled, reopened or promoted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import Moment, to_instant_or_none
from drumbeat.backends.sqlite.store.jobs.insertion import wait
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import FOREVER, Place
from drumbeat.backends.sqlite.store.session import COLUMN, PENDING, StoreSession
from drumbeat.backends.sqlite.store.sql import JOBS, json_list, soonest
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import (
    Cancelled,
    CancelRequested,
    Change,
    Promoted,
    Reopened,
    Status,
    Ticket,
    TooLate,
)
from drumbeat.rules.jobs.transitions import allows


def cancel(
    session: StoreSession, job_ids: Sequence[JobId], reason: str, now: Moment
) -> list[Cancelled | CancelRequested | TooLate]:
    session.flush_rows()
    return [_cancel(session, job_id, reason, now) for job_id in job_ids]


def reopen(
    session: StoreSession, job_ids: Sequence[JobId], now: Moment
) -> list[Reopened | TooLate]:
    session.flush_rows()
    return [_reopen(session, job_id, now) for job_id in job_ids]


def cancel_waiting(
    session: StoreSession, job_id: int, group: LimitGroup, reason: str, now: Moment
) -> None:
    """End a job as cancelled that was taken from its place among the waiting ones."""
    values = {"now": now.number, "reason": reason or None, "id": job_id}
    session.execute(JOBS.cancel_waiting, values)
    session.execute(JOBS.guard_keys, (json_list((job_id,)),))
    session.count(group.lane, COLUMN[Status.CANCELLED], 1)


def expire(session: StoreSession, limit: int, now: Moment) -> list[JobId]:
    """End waiting jobs that have expired, the longest expired first."""
    if session.expires_at is None or session.expires_at > now.number:
        return []
    session.flush_rows()
    expired: list[JobId] = []
    found = limit
    while found == limit and len(expired) < limit:
        ids = [JobId(number) for (number,) in session.execute(JOBS.expired, (now.number, limit))]
        found = len(ids)
        session.execute(JOBS.delete_expiring, (json_list(ids),))
        verdicts = [_cancel(session, job_id, EXPIRED, now) for job_id in ids]
        expired += [each.job_id for each in verdicts if isinstance(each, Cancelled)]
    return expired


def promote(session: StoreSession, limit: int, now: Moment) -> Promoted:
    """Queue pending jobs whose time has come, earliest first, and say when the next is due."""
    session.flush_rows()
    rows = session.execute(JOBS.due_to_queue, (now.number, limit)).fetchall()
    if rows:
        session.groups.load(session.connection, (number for _, _, number, _ in rows))
        last_run_at, last_job, _, _ = rows[-1]
        session.execute(JOBS.delete_pending_through, (last_run_at, last_job))
    tickets: list[Ticket] = []
    for run_at, job_id, number, rank in rows:
        group = session.groups.get(session.connection, number)
        session.count(group.lane, PENDING, -1)
        session.add_queued(group, Place(rank, run_at, job_id), now.number)
        tickets.append(Ticket(JobId(job_id), group.queue, -rank))
    return Promoted(tuple(tickets), to_instant_or_none(soonest(session.connection)))


class JobStateRow(NamedTuple):
    """What decides whether a job can be cancelled or reopened."""

    limit_group: int
    rank: int
    run_at: int
    ended: str | None
    running: int | None
    pending: int | None

    @property
    def status(self) -> Status:
        if self.ended is not None:
            return Status(self.ended)
        if self.running is not None:
            return Status.RUNNING
        return Status.QUEUED if self.pending is None else Status.PENDING


def _state(session: StoreSession, job_id: JobId) -> JobStateRow | None:
    row = session.execute(JOBS.state, (job_id,)).fetchone()
    return None if row is None else JobStateRow._make(row)


def _cancel(
    session: StoreSession, job_id: JobId, reason: str, now: Moment
) -> Cancelled | CancelRequested | TooLate:
    row = _state(session, job_id)
    if row is None or not allows(row.status, Change.CANCEL):
        return TooLate(job_id, row.status if row else None)
    status = row.status
    if status is Status.RUNNING:
        session.execute(JOBS.request_cancellation, (reason or None, job_id))
        session.execute(JOBS.request_cancellation_of_holder, (job_id,))
        session.hints |= topics.CANCELLATIONS
        return CancelRequested(job_id)
    if status is Status.PENDING:
        session.execute(JOBS.delete_pending, (row.run_at, job_id))
    else:
        session.execute(JOBS.delete_queued, (row.limit_group, row.rank, row.run_at, job_id))
    group = session.groups.get(session.connection, row.limit_group)
    session.count(group.lane, COLUMN[status], -1)
    cancel_waiting(session, job_id, group, reason, now)
    session.hints |= topics.FINISHED
    return Cancelled(job_id)


def _reopen(session: StoreSession, job_id: JobId, now: Moment) -> Reopened | TooLate:
    row = _state(session, job_id)
    if row is None or not allows(row.status, Change.REOPEN):
        return TooLate(job_id, row.status if row else None)
    session.execute(JOBS.reopen, {"now": now.number, "always": FOREVER, "id": job_id})
    session.execute(JOBS.delete_finished, (job_id,))
    session.execute(JOBS.delete_expiring, (json_list((job_id,)),))
    group = session.groups.get(session.connection, row.limit_group)
    session.count(group.lane, COLUMN[row.status], -1)
    wait(session, group, Place(row.rank, now.number, job_id), now)
    session.flush_rows()
    return Reopened(job_id)
