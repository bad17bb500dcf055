"""Promotion: pending jobs are queued when their time has come."""

from __future__ import annotations

from drumbeat.backends.sqlite.connection.times import to_instant_or_none
from drumbeat.backends.sqlite.store.jobs.place import Place
from drumbeat.backends.sqlite.store.moment import Moment
from drumbeat.backends.sqlite.store.session import PENDING, StoreSession
from drumbeat.backends.sqlite.store.sql import JOBS, soonest
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Promoted, Ticket


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
        tickets.append(Ticket(JobId(job_id), group.queue))
    return Promoted(tuple(tickets), to_instant_or_none(soonest(session.connection)))
