"""The rows of jobs as statements return them, and the values that they become."""

from __future__ import annotations

from typing import NamedTuple

from drumbeat.backends.sqlite.connection.times import to_instant, to_instant_or_none
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.model.encoding.document import progress_from_text, tags_from_text
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Attempt, Hold, Job, JobSpec, Status
from drumbeat.model.jobs.job_options import options_from_text, stored_spec

FOREVER = 2**62
"""Later than every instant: an unfinished job guards its dedupe key until then."""

new_job = fast_constructor(Job)
new_hold = fast_constructor(Hold)
new_attempt = fast_constructor(Attempt)


class Place(NamedTuple):
    """A job among those of its limit group: higher priority (negated), earlier, lower id first."""

    rank: int
    run_at: int
    id: int


class QueuedRow(NamedTuple):
    """A queued job, with all that a claim needs."""

    rank: int
    run_at: int
    id: JobId
    limit_group: int
    created_at: int
    attempt: int
    fence: int
    arguments: bytes
    options: str | None
    tags: str | None
    guards_for: int | None
    schedule: str | None
    tick_at: int | None

    @property
    def place(self) -> Place:
        return Place(self.rank, self.run_at, self.id)


class JobRow(NamedTuple):
    """A job with its status."""

    rank: int
    run_at: int
    id: JobId
    limit_group: int
    created_at: int
    attempt: int
    fence: int
    arguments: bytes
    options: str | None
    tags: str | None
    schedule: str | None
    tick_at: int | None
    status: str
    node: str | None
    started_at: int | None
    finished_at: int | None
    result: bytes | None
    error: str | None
    progress: str | None
    cancel_requested: int


def spec_of(row: QueuedRow | JobRow, group: LimitGroup) -> JobSpec:
    return stored_spec(
        group.task,
        row.arguments,
        group.queue,
        -row.rank,
        row.schedule,
        to_instant_or_none(row.tick_at),
        group.limits,
        group.rate,
        () if row.tags is None else tags_from_text(row.tags),
        *options_from_text(row.options),
    )


def job_of(row: JobRow, group: LimitGroup) -> Job:
    return new_job(
        row.id,
        spec_of(row, group),
        Status(row.status),
        to_instant(row.run_at),
        to_instant(row.created_at),
        row.attempt,
        row.fence,
        None if row.node is None else NodeId(row.node),
        to_instant_or_none(row.started_at),
        to_instant_or_none(row.finished_at),
        row.result,
        row.error,
        None if row.progress is None else progress_from_text(row.progress),
        bool(row.cancel_requested),
    )


def held_attempt(row: JobRow, group: LimitGroup) -> Attempt:
    assert row.node is not None, "a running job has a node"
    assert row.started_at is not None, "a running job has a start"
    return new_attempt(
        new_hold(row.id, row.fence),
        row.attempt,
        spec_of(row, group),
        NodeId(row.node),
        to_instant(row.started_at),
        to_instant(row.created_at),
    )
