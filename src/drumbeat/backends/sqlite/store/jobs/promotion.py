"""Promotion: pending jobs are queued when their time has come."""

from __future__ import annotations

from typing import NamedTuple

from drumbeat.backends.sqlite.connection.times import to_instant_or_none
from drumbeat.backends.sqlite.store.jobs.place import Place
from drumbeat.backends.sqlite.store.moment import Moment
from drumbeat.backends.sqlite.store.session import PENDING, StoreSession
from drumbeat.backends.sqlite.store.sql import JOBS
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Promoted, Ticket


class PendingRow(NamedTuple):
    """A pending job whose time has come."""

    run_at: int
    id: JobId
    limit_group: int
    rank: int


def promote(session: StoreSession, limit: int, now: Moment) -> Promoted:
    """Queue pending jobs whose time has come, earliest first, and say when the next is due."""
    session.flush_rows()
    due = session.execute(JOBS.due_to_queue, (now.number, limit))
    rows = list(map(PendingRow._make, due))
    if rows:
        session.groups.load(session.connection, (row.limit_group for row in rows))
        session.execute(JOBS.delete_pending_through, (rows[-1].run_at, rows[-1].id))
    tickets: list[Ticket] = []
    for row in rows:
        group = session.groups.get(session.connection, row.limit_group)
        session.count(group.lane, PENDING, -1)
        session.add_queued(group, Place(row.rank, row.run_at, row.id), now.number)
        tickets.append(Ticket(row.id, group.queue))
    found = session.execute(JOBS.soonest).fetchone()
    return Promoted(tuple(tickets), to_instant_or_none(found[0] if found else None))
