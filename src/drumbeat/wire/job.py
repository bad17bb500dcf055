"""A job on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Raw, Struct

from drumbeat.model.ids import label_of
from drumbeat.model.jobs.job import AttemptRecord, Change, Job, Progress, Status
from drumbeat.wire.redaction import Secrets, no_secrets, redacted
from drumbeat.wire.values import raw


class ProgressView(Struct, frozen=True):
    """How far an attempt has come, in its own words."""

    done: float
    total: float | None = None
    message: str = ""


class JobView(Struct, frozen=True, kw_only=True):
    """A job: what was asked for, and where it stands."""

    id: int
    status: Status
    task: str
    queue: str
    priority: int
    arguments: Raw | Any
    """The arguments by name. Those that its task marks as secret are shown as "[redacted]"."""
    attempt: int
    created_at: datetime
    run_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    """When it ended, however it did. The same as `finished_at`."""
    finished_at: datetime | None = None
    worker_id: str | None = None
    """The label of the node that runs or ran it."""
    node: str | None = None
    """The identity of that node."""
    schedule: str | None = None
    tick_at: datetime | None = None
    dedupe_key: str | None = None
    dedupe_scope: str | None = None
    """Whose dedupe keys it shares; null: those of its task."""
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    """From then on no attempt of it starts."""
    expired: bool = False
    """Whether it was cancelled because it had expired."""
    skipped: bool = False
    """Whether it was skipped because its limit was reached."""
    result: Raw | Any = None
    error: str | None = None
    cancel_requested: bool = False
    progress: ProgressView | None = None
    fence: int = 0


class AttemptView(Struct, frozen=True, kw_only=True):
    """A past attempt of a job."""

    number: int
    fence: int
    node: str
    started_at: datetime
    ended_at: datetime
    change: Change
    error: str | None = None


def job_view(job: Job, secrets: Secrets = no_secrets) -> JobView:
    spec, node = job.spec, job.node
    return JobView(
        id=job.id,
        status=job.status,
        task=spec.task,
        queue=spec.queue,
        priority=spec.priority,
        arguments=raw(redacted(spec.arguments, secrets(spec.task))),
        attempt=job.attempt,
        created_at=job.created_at,
        run_at=job.run_at,
        started_at=job.started_at,
        completed_at=job.finished_at,
        finished_at=job.finished_at,
        worker_id=None if node is None else label_of(node),
        node=node,
        schedule=spec.schedule,
        tick_at=spec.tick_at,
        dedupe_key=spec.dedupe_key,
        dedupe_scope=spec.dedupe_scope,
        tags=spec.tags,
        expires_at=job.expires_at,
        expired=job.has_expired,
        skipped=job.was_skipped,
        result=None if job.result is None else raw(job.result),
        error=job.error,
        cancel_requested=job.cancel_requested,
        progress=_progress_view(job.progress),
        fence=job.fence,
    )


def attempt_view(record: AttemptRecord) -> AttemptView:
    return AttemptView(
        number=record.number,
        fence=record.fence,
        node=record.node,
        started_at=record.started_at,
        ended_at=record.ended_at,
        change=record.change,
        error=record.error,
    )


def _progress_view(progress: Progress | None) -> ProgressView | None:
    if progress is None:
        return None
    return ProgressView(progress.done, progress.total, progress.message)
