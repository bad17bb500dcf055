"""A view tells everything of a job but what it leaves out on purpose."""

from __future__ import annotations

from dataclasses import MISSING, fields
from datetime import UTC, datetime, timedelta

import msgspec

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Job, JobSpec, Progress, Status
from drumbeat.wire.job import JobView, ProgressView, job_view

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOT_TOLD = frozenset(
    {"delay", "timeout", "retry", "dedupe_for", "limits", "rate", "trace", "expires", "retention"}
)
"""What a view does not tell of a job's spec."""


def test_a_view_tells_every_field_of_a_job_that_it_does_not_leave_out() -> None:
    spec = JobSpec(
        task="bill",
        arguments=b'{"account":1}',
        queue="mail",
        priority=7,
        run_at=NOON + timedelta(hours=1),
        dedupe_key="bill-1",
        dedupe_scope="bills",
        schedule="nightly",
        tick_at=NOON + timedelta(minutes=5),
        tags=("vip",),
        expires=timedelta(hours=2),
    )
    job = Job(
        id=JobId(3),
        spec=spec,
        status=Status.RUNNING,
        run_at=NOON + timedelta(hours=1),
        created_at=NOON,
        attempt=2,
        fence=5,
        node=NodeId("web-1:00ff"),
        started_at=NOON + timedelta(minutes=1),
        finished_at=NOON + timedelta(minutes=2),
        result=b"[1]",
        error="it failed before",
        progress=Progress(3, 10, "a third"),
        cancel_requested=True,
    )
    for value in (job, spec):  # else a field could be dropped without being missed here
        for field in fields(value):
            if field.name not in NOT_TOLD and field.default is not MISSING:
                assert getattr(value, field.name) != field.default, field.name
    view = msgspec.json.decode(msgspec.json.encode(job_view(job)), type=JobView)
    for value in (job, spec):
        for field in fields(value):
            if field.name not in NOT_TOLD | {"spec"}:
                told = as_told(getattr(value, field.name))
                assert getattr(view, field.name) == told, field.name


def as_told(value: object) -> object:
    match value:
        case bytes():
            return msgspec.json.decode(value)
        case Progress():
            return ProgressView(value.done, value.total, value.message)
        case _:
            return value
