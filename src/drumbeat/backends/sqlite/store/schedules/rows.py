"""The rows of schedules as statements return them, and the values that they become."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from drumbeat.backends.sql.schedule_definitions import definition_of, schedule_of
from drumbeat.backends.sqlite.connection.times import to_instant, to_number, to_number_or_none
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Status
from drumbeat.model.schedules.schedule import DueSchedule, Origin, Previous, StoredSchedule

new_stored = fast_constructor(StoredSchedule)
new_due = fast_constructor(DueSchedule)
new_previous = fast_constructor(Previous)

_ORIGINS = {origin.value: origin for origin in Origin}
_STATUSES = {status.value: status for status in Status}
_NO_SKIPS: frozenset[datetime] = frozenset()
_instant = lru_cache(maxsize=1_000)(to_instant)
"""Schedules that are due together share their instants."""


class ScheduleRow(NamedTuple):
    """A schedule; of one that is due, also the job of its last tick."""

    name: str
    definition: str
    version: int
    cursor: int
    next_tick: int | None
    created_at: int
    updated_at: int
    origin: str
    declared: str
    paused: int
    pause_reason: str
    runs: int
    last_job: JobId | None
    skips: str | None
    previous: JobId | None = None
    previous_status: str = ""
    previous_finished_at: int | None = None


def columns_of(stored: StoredSchedule) -> tuple[Any, ...]:
    """A schedule, in the order of its columns."""
    return (
        stored.name,
        definition_of(stored.schedule),
        stored.version,
        to_number(stored.cursor),
        to_number_or_none(stored.next_tick),
        to_number(stored.created_at),
        to_number(stored.updated_at),
        stored.origin.value,
        stored.declared,
        int(stored.paused),
        stored.pause_reason,
        stored.runs,
        stored.last_job,
        skips_to_text(frozenset(to_number(skip) for skip in stored.skips)),
    )


def stored_of(row: ScheduleRow) -> StoredSchedule:
    return new_stored(
        schedule_of(row.definition),
        row.version,
        _instant(row.cursor),
        None if row.next_tick is None else _instant(row.next_tick),
        _instant(row.created_at),
        _instant(row.updated_at),
        _ORIGINS[row.origin],
        row.declared,
        bool(row.paused),
        row.pause_reason,
        row.runs,
        row.last_job,
        frozenset(map(to_instant, skips_from_text(row.skips))) if row.skips else _NO_SKIPS,
    )


def due_of(row: ScheduleRow) -> DueSchedule:
    previous = None
    if row.previous is not None:
        finished_at = row.previous_finished_at
        previous = new_previous(
            row.previous,
            _STATUSES[row.previous_status],
            None if finished_at is None else _instant(finished_at),
        )
    return new_due(stored_of(row), previous)


def skips_to_text(skips: frozenset[int]) -> str | None:
    return json.dumps(sorted(skips)) if skips else None


def skips_from_text(text: str | None) -> frozenset[int]:
    return frozenset(json.loads(text)) if text else frozenset()
