"""Showing: things as callers see them, without what nobody is to see."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from drumbeat.engine.rates import Rates
from drumbeat.model.job import Job
from drumbeat.model.lease import SCHEDULER, Lease
from drumbeat.model.queue import QueueRecord
from drumbeat.model.schedule import StoredSchedule
from drumbeat.wire.election import ElectionView, election_view
from drumbeat.wire.job import JobView, job_view
from drumbeat.wire.queue import QueueView, queue_view
from drumbeat.wire.schedule import ScheduleView, schedule_view

if TYPE_CHECKING:
    from drumbeat.api.desk import Desk


HEAD_BYTES = 500
"""What a job or a schedule takes without its values, about."""
TOLD_BYTES = 16 * 1024
"""The largest arguments, and the largest result, that an event carries."""


def job_shown(desk: Desk, job: Job) -> JobView:
    """The job without its secret arguments."""
    return job_view(job, desk.registry.secrets)


def job_bytes(job: Job) -> int:
    """About how many bytes the job takes when it is shown."""
    error = len(job.error or "") + len(job.spec.dedupe_key or "")
    return HEAD_BYTES + len(job.spec.arguments) + len(job.result or b"") + error


def job_told(desk: Desk, job: Job) -> JobView:
    """The job as an event tells of it: large arguments and results are left to `GET /jobs/ID`."""
    return job_shown(desk, lightened(job))


def lightened(job: Job) -> Job:
    """The job without arguments and a result that are too large for an event."""
    if job_bytes(job) <= TOLD_BYTES:
        return job
    spec, result = job.spec, job.result
    if len(spec.arguments) > TOLD_BYTES:
        job = dataclasses.replace(
            job, spec=dataclasses.replace(spec, arguments=_left_out(spec.arguments))
        )
    if result is not None and len(result) > TOLD_BYTES:
        job = dataclasses.replace(job, result=_left_out(result))
    return job


def _left_out(value: bytes) -> bytes:
    return b'"[%d bytes, left out: ask for the job]"' % len(value)


def schedule_bytes(stored: StoredSchedule) -> int:
    """About how many bytes the schedule takes when it is shown."""
    schedule = stored.schedule
    parts = schedule.trigger.parts * HEAD_BYTES
    return HEAD_BYTES + len(schedule.job.arguments) + len(schedule.description) + parts


def schedule_shown(desk: Desk, stored: StoredSchedule) -> ScheduleView:
    """The schedule without its secret arguments."""
    return schedule_view(stored, desk.registry.secrets)


def queue_shown(record: QueueRecord, as_of: datetime, rates: Rates) -> QueueView:
    """The queue with its rates."""
    view = queue_view(record, as_of)
    rate = rates.of(record, as_of)
    if rate is None:
        return view
    return replace(
        view,
        per_minute={status: round(value, 3) for status, value in rate.per_minute.items()},
        per_minute_over_seconds=rate.over.total_seconds(),
    )


async def election_shown(desk: Desk, name: str) -> ElectionView:
    """The election as it stands; with the time that is left if this node has won it."""
    await desk.coordinator.open()
    lease: Lease | None = await desk.coordinator.leases.current(name)
    view = election_view(name, lease, await desk.store.fence.read(name))
    if name != SCHEDULER or not desk.standing.is_leader:
        return view
    return replace(view, is_leader=True, lease_remaining_seconds=desk.standing.lease_remaining)
