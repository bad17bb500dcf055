"""Sizes of jobs and schedules, and how large values are left out of events."""

from __future__ import annotations

from dataclasses import replace

from drumbeat.model.jobs.job import Job
from drumbeat.model.schedules.schedule import StoredSchedule

HEAD_BYTES = 500
"""About what a job or a schedule takes as JSON without its values."""
EVENT_BYTES = 16 * 1024
"""The largest arguments, and the largest result, that an event carries."""


def job_bytes(job: Job) -> int:
    """About how many bytes the job takes as JSON."""
    error = len(job.error or "") + len(job.spec.dedupe_key or "")
    return HEAD_BYTES + len(job.spec.arguments) + len(job.result or b"") + error


def schedule_bytes(stored: StoredSchedule) -> int:
    """About how many bytes the schedule takes as JSON."""
    schedule = stored.schedule
    parts = schedule.trigger.parts * HEAD_BYTES
    return HEAD_BYTES + len(schedule.job.arguments) + len(schedule.description) + parts


def without_large_values(job: Job) -> Job:
    """The job without arguments and a result that are too large for an event."""
    if job_bytes(job) <= EVENT_BYTES:
        return job
    spec, result = job.spec, job.result
    if len(spec.arguments) > EVENT_BYTES:
        job = replace(job, spec=replace(spec, arguments=_left_out(spec.arguments)))
    if result is not None and len(result) > EVENT_BYTES:
        job = replace(job, result=_left_out(result))
    return job


def _left_out(value: bytes) -> bytes:
    return b'"[%d bytes, left out: ask for the job]"' % len(value)
