"""Rows: jobs as the database has them, and the values that they become."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, TypeAlias

from drumbeat.model.document import options_from_text, progress_from_text
from drumbeat.model.ids import NodeId
from drumbeat.model.job import Attempt, Hold, Job, JobSpec, Status
from drumbeat.model.retry import DEFAULT_RETRY, Retry
from drumbeat.model.swift import swift
from drumbeat.postgres.client import Record
from drumbeat.stores.postgres.lanes import Lane
from drumbeat.stores.postgres.lengths import to_length
from drumbeat.stores.postgres.specs import USUAL_GUARD
from drumbeat.stores.postgres.terms import NONE, terms_of

NO_DELAY = timedelta(0)
MOST_OPTIONS = 10_000

new_spec = swift(JobSpec)
new_job = swift(Job)
new_hold = swift(Hold)
new_attempt = swift(Attempt)

Options: TypeAlias = tuple[Retry, float | None, str | None]
"""Retry, time-out, trace."""
DEFAULT_OPTIONS: Options = (DEFAULT_RETRY, None, None)

_options: dict[str | None, Options] = {None: DEFAULT_OPTIONS}


def spec_of(asked: tuple[Any, ...], lane: Lane, rank: int) -> JobSpec:
    """What was asked for, from the columns that jobs and attempts have alike."""
    arguments, options, terms, asked_at, delay, tags, key, dedupe_for, schedule, tick_at = asked
    retry, timeout, trace = _options.get(options) or _read_options(options)
    limits, rate = NONE if terms is None else terms_of(terms)
    return new_spec(
        lane[1],
        arguments,
        lane[0],
        -rank,
        asked_at,
        NO_DELAY if delay is None else to_length(delay),
        retry,
        timeout,
        key,
        USUAL_GUARD if dedupe_for is None else to_length(dedupe_for),
        schedule,
        tick_at,
        limits,
        rate,
        () if tags is None else tuple(tags),
        trace,
    )


def job_of(row: Iterable[Any], lanes: dict[int, Lane]) -> Job:
    """A job as it stands."""
    job_id, fence, attempt, lane, rank, run_at, created_at, *rest = row
    status, node, started_at, finished_at, result, error, progress, cancel_requested = rest[10:]
    return new_job(
        job_id,
        spec_of(tuple(rest[:10]), lanes[lane], rank),
        Status(status),
        run_at,
        created_at,
        attempt,
        fence,
        node,
        started_at,
        finished_at,
        result,
        error,
        None if progress is None else progress_from_text(progress),
        cancel_requested,
    )


def held_attempt(row: Record, lanes: dict[int, Lane]) -> Attempt:
    """An attempt that is running, from the columns of a job."""
    job_id, fence, attempt, lane, rank, _, created_at, *rest = row
    return new_attempt(
        new_hold(job_id, fence),
        attempt,
        spec_of(tuple(rest[:10]), lanes[lane], rank),
        NodeId(rest[11]),
        rest[12],
        created_at,
    )


def _read_options(text: str) -> Options:
    read = options_from_text(text)
    if read[2] is not None:  # a trace is of this job alone
        return read
    if len(_options) > MOST_OPTIONS:
        _options.clear()
        _options[None] = DEFAULT_OPTIONS
    _options[text] = read
    return read
