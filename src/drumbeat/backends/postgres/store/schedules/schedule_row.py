"""Rows of schedules, and the values that they become."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from drumbeat.backends.sql.schedule_definitions import schedule_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Status
from drumbeat.model.schedules.schedule import (
    DueSchedule,
    Origin,
    Previous,
    StoredSchedule,
)

new_stored = fast_constructor(StoredSchedule)
new_due = fast_constructor(DueSchedule)
new_previous = fast_constructor(Previous)


class ScheduleRow(NamedTuple):
    """A schedule, as the statements return it."""

    name: str
    definition: str
    version: int
    cursor: datetime
    next_tick: datetime | None
    created_at: datetime
    updated_at: datetime
    origin: str
    declared: str
    paused: bool
    pause_reason: str
    runs: int
    last_job: int | None
    skips: list[datetime] | None


class PreviousRow(NamedTuple):
    """The previous job of a schedule, as the statements return it; no id: there is none."""

    id: JobId | None
    status: str
    finished_at: datetime | None


def stored_of(row: ScheduleRow) -> StoredSchedule:
    return new_stored(
        schedule_of(row.definition),
        row.version,
        row.cursor,
        row.next_tick,
        row.created_at,
        row.updated_at,
        Origin(row.origin),
        row.declared,
        row.paused,
        row.pause_reason,
        row.runs,
        None if row.last_job is None else JobId(row.last_job),
        frozenset(row.skips or ()),
    )


def due_of(row: ScheduleRow, previous: PreviousRow) -> DueSchedule:
    if previous.id is None:
        return new_due(stored_of(row), None)
    job = new_previous(previous.id, Status(previous.status), previous.finished_at)
    return new_due(stored_of(row), job)
