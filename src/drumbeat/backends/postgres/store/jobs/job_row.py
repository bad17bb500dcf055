"""Rows of jobs, and the values that they become."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from drumbeat.backends.postgres.store.jobs.lanes import Lane
from drumbeat.backends.postgres.store.jobs.limits import NO_LIMITS, limits_from_text
from drumbeat.model.encoding.document import progress_from_text
from drumbeat.model.fast_construction import constructor_by, fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Attempt, Hold, Job, JobSpec, Status
from drumbeat.model.jobs.job_options import JobOptions, options_from_text

new_spec = constructor_by(
    JobSpec,
    (
        *("task", "queue", "priority", "arguments", "tags", "schedule", "tick_at"),
        *("limits", "rate"),
        *JobOptions._fields,
    ),
)
new_job = fast_constructor(Job)
new_hold = fast_constructor(Hold)
new_attempt = fast_constructor(Attempt)


class JobRow(NamedTuple):
    """A job of the hot table or the archive, as the statements return it."""

    id: JobId
    fence: int
    attempt: int
    lane: int
    rank: int
    run_at: datetime
    created_at: datetime
    arguments: bytes
    options: str | None
    limits: str | None
    tags: list[str] | None
    schedule: str | None
    tick_at: datetime | None
    status: str
    node: NodeId | None
    started_at: datetime | None
    finished_at: datetime | None
    result: bytes | None
    error: str | None
    progress: str | None
    cancel_requested: bool


spec_columns = attrgetter("rank", "arguments", "options", "limits", "tags", "schedule", "tick_at")


def spec_of(columns: Iterable[Any], lane: Lane) -> JobSpec:
    """The spec from `spec_columns`, in the order in which all statements return them."""
    rank, arguments, text, limits_text, tags, schedule, tick_at = columns
    options = options_from_text(text)
    limits, rate = NO_LIMITS if limits_text is None else limits_from_text(limits_text)
    queue, task = lane
    tags = () if tags is None else tuple(tags)
    return new_spec(task, queue, -rank, arguments, tags, schedule, tick_at, limits, rate, *options)


def job_of(row: JobRow, lanes: dict[int, Lane]) -> Job:
    return new_job(
        row.id,
        spec_of(spec_columns(row), lanes[row.lane]),
        Status(row.status),
        row.run_at,
        row.created_at,
        row.attempt,
        row.fence,
        row.node,
        row.started_at,
        row.finished_at,
        row.result,
        row.error,
        None if row.progress is None else progress_from_text(row.progress),
        row.cancel_requested,
    )


def held_attempt(row: JobRow, lanes: dict[int, Lane]) -> Attempt:
    """The running attempt of a row."""
    assert row.node is not None, "a running job has a node"
    assert row.started_at is not None, "a running job has a start"
    return new_attempt(
        new_hold(row.id, row.fence),
        row.attempt,
        spec_of(spec_columns(row), lanes[row.lane]),
        row.node,
        row.started_at,
        row.created_at,
    )
