"""Inserting jobs, for callers and for ticks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from drumbeat.backends.sqlite.connection.calls import DeferredResult
from drumbeat.backends.sqlite.connection.times import (
    Moment,
    to_instant,
    to_microseconds,
    to_number,
    to_number_or_none,
)
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import FOREVER, JobRow, Place, job_of, new_job
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import JOBS, VIEWS
from drumbeat.model.encoding.document import tags_to_text
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Duplicate, Inserted, Job, JobSpec, Status
from drumbeat.model.jobs.job_options import options_to_text

PENDING, QUEUED = Status.PENDING, Status.QUEUED
JOB_BY_ID = VIEWS.jobs % "jobs.id = ?"

new_inserted = fast_constructor(Inserted)


def insert(
    session: StoreSession, specs: Sequence[JobSpec], now: Moment
) -> DeferredResult[Sequence[Inserted | Duplicate]]:
    number, instant, add = now.number, now.instant, session.add_plain_job
    made: list[JobId | Inserted | Duplicate] = [
        add(spec, number)
        if _is_plain(spec)
        else new_inserted(create(session, spec, now))
        if spec.dedupe_key is None
        else _insert_deduped(session, spec, now)
        for spec in specs
    ]

    def result() -> Sequence[Inserted | Duplicate]:
        return [
            new_inserted(new_job(verdict, spec, QUEUED, instant, instant))
            if isinstance(verdict, int)
            else verdict
            for verdict, spec in zip(made, specs, strict=True)
        ]

    return DeferredResult(result)


def insert_together(
    session: StoreSession, requests: Sequence[Sequence[JobSpec]]
) -> DeferredResult[Sequence[Sequence[Inserted | Duplicate]]]:
    """Insert the jobs of several callers at once."""
    specs = [spec for request in requests for spec in request]
    inserted = insert(session, specs, session.moment(None))

    def result() -> Sequence[Sequence[Inserted | Duplicate]]:
        verdicts = iter(inserted.build())
        return [list(islice(verdicts, len(request))) for request in requests]

    return DeferredResult(result)


def create(session: StoreSession, spec: JobSpec, now: Moment) -> Job:
    """Create a job, whatever its dedupe key."""
    if _is_plain(spec):
        job_id = session.add_plain_job(spec, now.number)
        return new_job(job_id, spec, QUEUED, now.instant, now.instant)
    group = session.group_of(spec)
    job_id = session.next_job()
    rank = -spec.priority
    run_at, number = now.instant, now.number
    if spec.run_at is not None:
        run_at, number = spec.run_at, to_number(spec.run_at)
    elif spec.delay:
        number += to_microseconds(spec.delay)
        run_at = to_instant(number)
    common = (job_id, group.id, rank, number, now.number, spec.arguments, options_to_text(spec))
    row = (*common, spec.schedule, to_number_or_none(spec.tick_at))
    if spec.dedupe_key is None and spec.retention is None and not spec.tags:
        session.ticked_jobs.values += row
    else:
        session.jobs.values += (*row, *_rare_columns(spec))
    session.count_in_group(group, 1)
    expires_at = spec.expires_at(now.instant)
    if expires_at is not None:
        session.add_expiring(job_id, to_number(expires_at))
    status = wait(session, group, Place(rank, number, job_id), now)
    return new_job(job_id, spec, status, run_at, now.instant)


def wait(session: StoreSession, group: LimitGroup, place: Place, now: Moment) -> Status:
    """Let a job wait for its time, or for a worker if that has come."""
    if place.run_at > now.number:
        session.add_pending(group, place.run_at, place.id)
        return PENDING
    session.add_queued(group, place, now.number)
    return QUEUED


def _is_plain(spec: JobSpec) -> bool:
    """Whether the job runs at once and has no value in a column that only few jobs need."""
    return (
        spec.run_at is None
        and spec.schedule is None
        and spec.tick_at is None
        and spec.dedupe_key is None
        and spec.expires is None
        and spec.retention is None
        and not spec.delay
        and not spec.tags
    )


def _rare_columns(spec: JobSpec) -> tuple[str | int | None, ...]:
    """Tags, dedupe digest, how long the job is kept after its end, and until when its key is taken.

    A job is kept while its key is taken, and for its own retention.
    """
    tags = tags_to_text(spec.tags) if spec.tags else None
    kept_for = None if spec.retention is None else to_microseconds(spec.retention)
    if spec.dedupe_key is None:
        return tags, None, kept_for, None
    guards_for = to_microseconds(spec.dedupe_for)
    return tags, _digest(spec), max(guards_for, kept_for or 0), FOREVER


def _digest(spec: JobSpec) -> str | None:
    guard = spec.dedupe_guard
    return None if guard is None else guard.hex()


def _insert_deduped(session: StoreSession, spec: JobSpec, now: Moment) -> Inserted | Duplicate:
    session.flush_rows()
    found = session.execute(JOBS.guarding_job, (_digest(spec), now.number)).fetchone()
    if found is None:
        return new_inserted(create(session, spec, now))
    row = JobRow._make(session.execute(JOB_BY_ID, found).fetchone())
    return Duplicate(job_of(row, session.groups.get(session.connection, row.limit_group)))
