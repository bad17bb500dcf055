"""Cancelling and reopening jobs."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.ids import JobId
from drumbeat.model.job import (
    Cancelled,
    CancelRequested,
    Change,
    Reopened,
    Status,
    TooLate,
)
from drumbeat.rules.statuses import allows
from drumbeat.sqlite.news import CANCELLATIONS, FINISHED
from drumbeat.stores.sqlite.creating import wait
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import ALWAYS
from drumbeat.stores.sqlite.session import COLUMN, StoreSession
from drumbeat.stores.sqlite.sql import JOBS, listed


def cancel(
    session: StoreSession, job_ids: Sequence[JobId], reason: str, now: Moment
) -> list[Cancelled | CancelRequested | TooLate]:
    """End waiting jobs as cancelled; mark running ones."""
    session.flush_rows()
    return [_cancel(session, job_id, reason, now) for job_id in job_ids]


def reopen(
    session: StoreSession, job_ids: Sequence[JobId], now: Moment
) -> list[Reopened | TooLate]:
    """Queue failed or cancelled jobs again."""
    session.flush_rows()
    return [_reopen(session, job_id, now) for job_id in job_ids]


def finish_waiting(
    session: StoreSession, job_id: int, line: Line, reason: str, now: Moment
) -> None:
    """A job that has left its place among the waiting ones ends as cancelled."""
    session.execute(
        JOBS.finish_waiting, {"now": now.number, "reason": reason or None, "id": job_id}
    )
    session.execute(JOBS.guard_keys, (listed((job_id,)),))
    session.count(line.lane, COLUMN[Status.CANCELLED], 1)


def _cancel(
    session: StoreSession, job_id: JobId, reason: str, now: Moment
) -> Cancelled | CancelRequested | TooLate:
    found = session.execute(JOBS.standing_of, (job_id,)).fetchone()
    if found is None:
        return TooLate(job_id, None)
    number, rank, run_at, ended, running, pending = found
    status = _status(ended, running, pending)
    if not allows(status, Change.CANCEL):
        return TooLate(job_id, status)
    if status is Status.RUNNING:
        session.execute(JOBS.ask_to_cancel, (reason or None, job_id))
        session.execute(JOBS.ask_holder_to_cancel, (job_id,))
        session.news |= CANCELLATIONS
        return CancelRequested(job_id)
    line = session.lines.get(session.connection, number)
    if status is Status.PENDING:
        session.execute(JOBS.delete_pending, (run_at, job_id))
    else:
        session.execute(JOBS.delete_queued, (number, rank, run_at, job_id))
    session.count(line.lane, COLUMN[status], -1)
    finish_waiting(session, job_id, line, reason, now)
    session.news |= FINISHED
    return Cancelled(job_id)


def _reopen(session: StoreSession, job_id: JobId, now: Moment) -> Reopened | TooLate:
    found = session.execute(JOBS.standing_of, (job_id,)).fetchone()
    if found is None:
        return TooLate(job_id, None)
    number, rank, _, ended, running, pending = found
    status = _status(ended, running, pending)
    if not allows(status, Change.REOPEN):
        return TooLate(job_id, status)
    session.execute(JOBS.reopen, {"now": now.number, "always": ALWAYS, "id": job_id})
    session.execute(JOBS.delete_finished, (job_id,))
    line = session.lines.get(session.connection, number)
    session.count(line.lane, COLUMN[status], -1)
    wait(session, line, (rank, now.number, job_id), now)
    session.flush_rows()
    return Reopened(job_id)


def _status(ended: str | None, running: int | None, pending: int | None) -> Status:
    if ended is not None:
        return Status(ended)
    if running is not None:
        return Status.RUNNING
    return Status.QUEUED if pending is None else Status.PENDING
