"""Definitions: schedules as the file has them, and the values that they become."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import Any

from drumbeat.model.document import schedule_to_text
from drumbeat.model.ids import JobId
from drumbeat.model.job import Status
from drumbeat.model.schedule import DueSchedule, Origin, Previous, Schedule, StoredSchedule
from drumbeat.model.swift import swift
from drumbeat.sqlite.instants import (
    to_instant,
    to_number,
    to_number_or_none,
)
from drumbeat.stores.definitions import schedule_of
from drumbeat.stores.sqlite.rows import Row

MOST = 100_000
"""Definitions that are kept as values: reading a text anew takes a hundred times as long."""

new_stored = swift(StoredSchedule)
new_due = swift(DueSchedule)
new_previous = swift(Previous)

_read: dict[str, Schedule] = {}
_ORIGINS = {origin.value: origin for origin in Origin}
_STATUSES = {status.value: status for status in Status}
_NO_SKIPS: frozenset[datetime] = frozenset()
_instant = lru_cache(maxsize=1_000)(to_instant)
"""Schedules that are due together share their instants."""


def row_of(stored: StoredSchedule) -> tuple[Any, ...]:
    """A schedule, in the order of its columns."""
    definition = schedule_to_text(stored.schedule)
    _keep(definition, stored.schedule)  # who declares a schedule often leads as well
    return (
        stored.name,
        definition,
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


def stored_of(row: Row) -> StoredSchedule:
    """The schedule of a row."""
    definition, version, cursor, next_tick, created_at, updated_at = row[1:7]
    origin, declared, paused, pause_reason, runs, last_job, skips = row[7:14]
    return new_stored(
        _read.get(definition) or _schedule(definition),
        version,
        _instant(cursor),
        None if next_tick is None else _instant(next_tick),
        _instant(created_at),
        _instant(updated_at),
        _ORIGINS[origin],
        declared,
        bool(paused),
        pause_reason,
        runs,
        None if last_job is None else JobId(last_job),
        frozenset(map(to_instant, skips_from_text(skips))) if skips else _NO_SKIPS,
    )


def due_of(row: Row) -> DueSchedule:
    """The schedule of a row, with its previous job."""
    job_id, status, finished_at = row[14:]
    previous = None
    if job_id is not None:
        previous = new_previous(
            job_id, _STATUSES[status], None if finished_at is None else _instant(finished_at)
        )
    return new_due(stored_of(row), previous)


def skips_to_text(skips: frozenset[int]) -> str | None:
    """Ticks that were skipped by hand."""
    return json.dumps(sorted(skips)) if skips else None


def skips_from_text(text: str | None) -> frozenset[int]:
    """The ticks that were written."""
    return frozenset(json.loads(text)) if text else frozenset()


def _schedule(definition: str) -> Schedule:
    return _keep(definition, schedule_of(definition))


def _keep(definition: str, schedule: Schedule) -> Schedule:
    if len(_read) >= MOST:
        _read.clear()
    _read[definition] = schedule
    return schedule
