"""Promoting: pending jobs are queued when their time has come."""

from __future__ import annotations

from drumbeat.model.ids import JobId
from drumbeat.model.job import Promoted, Ticket
from drumbeat.sqlite.instants import to_instant_or_none
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.session import PENDING, StoreSession
from drumbeat.stores.sqlite.sql import JOBS


def promote(session: StoreSession, limit: int, now: Moment) -> Promoted:
    """Queue pending jobs whose time has come, earliest first, and say when the next is due."""
    session.flush_rows()
    rows = session.execute(JOBS.due_to_queue, (now.number, limit)).fetchall()
    tickets: list[Ticket] = []
    if rows:
        session.lines.load(session.connection, (row[2] for row in rows))
        last = rows[-1]
        session.execute(JOBS.delete_pending_through, (last[0], last[1]))
    for run_at, job_id, number, rank in rows:
        line = session.lines.get(session.connection, number)
        session.count(line.lane, PENDING, -1)
        session.add_queued(line, rank, run_at, job_id, now.number)
        tickets.append(Ticket(JobId(job_id), line.queue))
    found = session.execute(JOBS.soonest).fetchone()
    return Promoted(tuple(tickets), to_instant_or_none(found[0] if found else None))
