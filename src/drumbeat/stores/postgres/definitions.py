"""Definitions: schedules as the database has them, and the values that they become."""

from __future__ import annotations

from typing import Any

from drumbeat.model.document import schedule_to_text
from drumbeat.model.ids import JobId
from drumbeat.model.job import Status
from drumbeat.model.schedule import DueSchedule, Origin, Previous, Schedule, StoredSchedule
from drumbeat.model.swift import swift
from drumbeat.stores.definitions import schedule_of
from drumbeat.stores.postgres.texts import name, readable

MOST = 100_000
"""Definitions that are kept as values: reading a text anew takes a hundred times as long."""
COLUMNS = 14

new_stored = swift(StoredSchedule)
new_due = swift(DueSchedule)
new_previous = swift(Previous)

_read: dict[str, Schedule] = {}


def row_of(stored: StoredSchedule) -> tuple[Any, ...]:
    """A schedule, in the order of its columns but for the name."""
    definition = schedule_to_text(stored.schedule)
    _keep(definition, stored.schedule)  # who declares a schedule often leads as well
    return (
        definition,
        stored.version,
        stored.cursor,
        stored.next_tick,
        stored.created_at,
        stored.updated_at,
        stored.origin.value,
        name("declared", stored.declared),
        stored.paused,
        readable(stored.pause_reason),
        stored.runs,
        stored.last_job,
        # An array within an array would be taken for a matrix: so it goes as a text.
        f"{{{','.join(sorted(skip.isoformat() for skip in stored.skips))}}}"
        if stored.skips
        else None,
    )


def stored_of(row: tuple[Any, ...]) -> StoredSchedule:
    """The schedule of a row."""
    definition, version, cursor, next_tick, created_at, updated_at = row[1:7]
    origin, declared, paused, pause_reason, runs, last_job, skips = row[7:COLUMNS]
    return new_stored(
        _read.get(definition) or _schedule(definition),
        version,
        cursor,
        next_tick,
        created_at,
        updated_at,
        Origin(origin),
        declared,
        paused,
        pause_reason,
        runs,
        None if last_job is None else JobId(last_job),
        frozenset(skips or ()),
    )


def due_of(row: tuple[Any, ...]) -> DueSchedule:
    """The schedule of a row, with its previous job."""
    job_id, status, finished_at = row[COLUMNS:]
    previous = None
    if job_id is not None:
        previous = new_previous(job_id, Status(status), finished_at)
    return new_due(stored_of(row), previous)


def _schedule(definition: str) -> Schedule:
    return _keep(definition, schedule_of(definition))


def _keep(definition: str, schedule: Schedule) -> Schedule:
    if len(_read) >= MOST:
        _read.clear()
    _read[definition] = schedule
    return schedule
