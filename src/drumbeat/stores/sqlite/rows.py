"""Rows: jobs as the file has them, and the values that they become."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeAlias

from drumbeat.model.document import (
    options_from_text,
    options_to_text,
    progress_from_text,
    tags_from_text,
    tags_to_text,
)
from drumbeat.model.ids import NodeId
from drumbeat.model.job import Attempt, Hold, Job, JobSpec, Progress, Status
from drumbeat.model.retry import DEFAULT_RETRY, Retry
from drumbeat.model.swift import swift
from drumbeat.sqlite.instants import (
    DAY,
    to_instant,
    to_instant_or_none,
    to_length,
    to_microseconds,
    to_number_or_none,
)
from drumbeat.stores.sqlite.lines import Line

Row: TypeAlias = tuple[Any, ...]
"""A row of SQLite: its columns are what the schema says."""

NO_DELAY = timedelta(0)
USUAL_GUARD = JobSpec("").dedupe_for
ALWAYS = 2**62
"""Later than every instant: the guard of an unfinished job's dedupe key."""
MOST_OPTIONS = 10_000

RANK, RUN_AT, ID, LINE, CREATED_AT, ATTEMPT, FENCE = range(7)
SPEC = slice(7, 16)
DEDUPE_KEY, DEDUPE_FOR = 12, 13
STATE = slice(16, None)

new_spec = swift(JobSpec)
new_job = swift(Job)
new_hold = swift(Hold)
new_attempt = swift(Attempt)

Options: TypeAlias = tuple[Retry, float | None, str | None]
"""Retry, time-out, trace."""
DEFAULT_OPTIONS: Options = (DEFAULT_RETRY, None, None)

_options: dict[str | None, Options] = {None: DEFAULT_OPTIONS}


def shared_of(spec: JobSpec) -> str | None:
    """The column `options`."""
    retry, timeout, trace = spec.retry, spec.timeout, spec.trace
    usual = timeout is None and trace is None
    if usual and (retry is DEFAULT_RETRY or retry == DEFAULT_RETRY):
        return None
    return options_to_text(retry, timeout, trace)


def is_usual(spec: JobSpec) -> bool:
    """Whether all columns that only few jobs have are null."""
    return (
        spec.dedupe_key is None
        and not spec.delay
        and not spec.tags
        and (spec.dedupe_for is USUAL_GUARD or spec.dedupe_for == USUAL_GUARD)
    )


def is_plain(spec: JobSpec) -> bool:
    """The same, and so are those of its times: it is to run at once."""
    return spec.run_at is None and spec.schedule is None and spec.tick_at is None and is_usual(spec)


def times_of(spec: JobSpec) -> tuple[Any, ...]:
    """The columns that jobs of schedules have, in their order."""
    return spec.schedule, to_number_or_none(spec.tick_at), to_number_or_none(spec.run_at)


def rest_of(spec: JobSpec) -> tuple[Any, ...]:
    """The columns that only few jobs have, in their order."""
    key, dedupe_for = spec.dedupe_key, spec.dedupe_for
    return (
        to_microseconds(spec.delay) if spec.delay else None,
        tags_to_text(spec.tags) if spec.tags else None,
        key,
        None if dedupe_for == USUAL_GUARD else to_microseconds(dedupe_for),
        None if key is None else ALWAYS,
    )


def spec_of(row: Row, line: Line) -> JobSpec:
    """What was asked for."""
    asked_at, delay, arguments, options, tags, key, dedupe_for, schedule, tick_at = row[SPEC]
    shared = _options.get(options) or _read_options(options)
    return new_spec(
        line.task,
        arguments,
        line.queue,
        -row[RANK],
        None if asked_at is None else to_instant(asked_at),
        NO_DELAY if delay is None else to_length(delay),
        shared[0],
        shared[1],
        key,
        USUAL_GUARD if dedupe_for is None else to_length(dedupe_for),
        schedule,
        None if tick_at is None else to_instant(tick_at),
        line.limits,
        line.rate,
        () if tags is None else tags_from_text(tags),
        shared[2],
    )


def job_of(row: Row, line: Line) -> Job:
    """A job as it stands."""
    status, node, started_at, finished_at, result, error, progress, cancel_requested = row[STATE]
    return new_job(
        row[ID],
        spec_of(row, line),
        Status(status),
        to_instant(row[RUN_AT]),
        to_instant(row[CREATED_AT]),
        row[ATTEMPT],
        row[FENCE],
        node,
        to_instant_or_none(started_at),
        to_instant_or_none(finished_at),
        result,
        error,
        _progress(progress),
        bool(cancel_requested),
    )


def held_attempt(row: Row, line: Line) -> Attempt:
    """An attempt that is running."""
    node, started_at = row[STATE]
    return new_attempt(
        new_hold(row[ID], row[FENCE]),
        row[ATTEMPT],
        spec_of(row, line),
        NodeId(node),
        to_instant(started_at),
        to_instant(row[CREATED_AT]),
    )


def guards_for(row: Row) -> int | None:
    """How long a job stands for its dedupe key after its end; None: it has no key."""
    if row[DEDUPE_KEY] is None:
        return None
    return DAY if row[DEDUPE_FOR] is None else int(row[DEDUPE_FOR])


def _progress(text: str | None) -> Progress | None:
    return None if text is None else progress_from_text(text)


def _read_options(text: str) -> Options:
    read = options_from_text(text)
    if read[2] is not None:  # a trace is of this job alone
        return read
    if len(_options) > MOST_OPTIONS:
        _options.clear()
        _options[None] = DEFAULT_OPTIONS
    _options[text] = read
    return read
