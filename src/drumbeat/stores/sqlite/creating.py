"""Creating jobs, whoever asks for them: a caller or a tick."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from drumbeat.model.ids import JobId
from drumbeat.model.instant import aware
from drumbeat.model.job import Duplicate, Inserted, Job, JobSpec, Status
from drumbeat.model.swift import swift
from drumbeat.sqlite.calls import Draft
from drumbeat.sqlite.instants import to_instant, to_microseconds, to_number
from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import (
    is_plain,
    is_usual,
    job_of,
    new_job,
    rest_of,
    shared_of,
    times_of,
)
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import JOBS, VIEWS

PENDING, QUEUED = Status.PENDING, Status.QUEUED
JOB_BY_ID = VIEWS.jobs % "jobs.id = ?"

new_inserted = swift(Inserted)


def insert(
    session: StoreSession, specs: Sequence[JobSpec], now: Moment
) -> Draft[Sequence[Inserted | Duplicate]]:
    """Create jobs, but for those whose dedupe key is taken."""
    number, instant, add = now.number, now.instant, session.add_plain_job
    made: list[JobId | Inserted | Duplicate] = [
        add(spec, number)
        if is_plain(spec)
        else new_inserted(create(session, spec, now))
        if spec.dedupe_key is None
        else _insert_keyed(session, spec, spec.dedupe_key, now)
        for spec in specs
    ]

    def word() -> Sequence[Inserted | Duplicate]:
        return [
            new_inserted(new_job(verdict, spec, QUEUED, instant, instant))
            if isinstance(verdict, int)
            else verdict
            for verdict, spec in zip(made, specs, strict=True)
        ]

    return Draft(word)


def insert_jointly(
    session: StoreSession, wishes: Sequence[Sequence[JobSpec]]
) -> Draft[Sequence[Sequence[Inserted | Duplicate]]]:
    """What several callers want to insert just now."""
    draft = insert(session, [spec for specs in wishes for spec in specs], session.moment(None))

    def word() -> Sequence[Sequence[Inserted | Duplicate]]:
        verdicts = iter(draft.worded())
        return [list(islice(verdicts, len(specs))) for specs in wishes]

    return Draft(word)


def create(session: StoreSession, spec: JobSpec, now: Moment) -> Job:
    """A new job, whatever its dedupe key."""
    if is_plain(spec):
        job_id = session.add_plain_job(spec, now.number)
        return new_job(job_id, spec, QUEUED, now.instant, now.instant)
    line = session.line_of(spec)
    job_id = session.next_job()
    rank = -spec.priority
    run_at, number = now.instant, now.number
    if spec.run_at is not None:
        run_at, number = spec.run_at, to_number(spec.run_at)
    elif spec.delay:
        number += to_microseconds(spec.delay)
        run_at = to_instant(number)
    row = (job_id, line.id, rank, number, now.number, spec.arguments, shared_of(spec))
    if is_usual(spec):
        session.add_ticked_job((*row, *times_of(spec)))
    else:
        session.add_job((*row, *times_of(spec), *rest_of(spec)))
    session.name_line(line, 1)
    status = wait(session, line, (rank, number, job_id), now)
    return new_job(job_id, spec, status, run_at, now.instant)


def wait(session: StoreSession, line: Line, place: tuple[int, int, int], now: Moment) -> Status:
    """Let a job wait for its time, or for a worker if that has come."""
    rank, run_at, job_id = place
    if run_at > now.number:
        session.add_pending(line, run_at, job_id)
        return PENDING
    session.add_queued(line, rank, run_at, job_id, now.number)
    return QUEUED


def job(session: StoreSession, job_id: int) -> Job:
    """A job that exists, as it stands in this transaction."""
    row = session.execute(JOB_BY_ID, (job_id,)).fetchone()
    return job_of(row, session.lines.get(session.connection, row[3]))


def check_times(specs: Sequence[JobSpec]) -> None:
    """Refuse, before anything is written, a job whose time has no zone."""
    for spec in specs:
        if spec.run_at is not None:
            aware("run_at", spec.run_at)


def _insert_keyed(
    session: StoreSession, spec: JobSpec, key: str, now: Moment
) -> Inserted | Duplicate:
    session.flush_rows()
    standing = session.execute(JOBS.standing, (key, now.number)).fetchone()
    if standing is None:
        return new_inserted(create(session, spec, now))
    return Duplicate(job(session, standing[0]))
