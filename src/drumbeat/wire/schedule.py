"""A schedule on the wire."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from drumbeat.model.schedules.schedule import Origin, StoredSchedule
from drumbeat.wire.fields import Json
from drumbeat.wire.policies import PoliciesView, policies_view
from drumbeat.wire.redaction import Secrets, no_secrets, redacted
from drumbeat.wire.retry import RetryView, retry_view
from drumbeat.wire.values import raw


class ScheduleView(Struct, frozen=True, kw_only=True):
    """A schedule, as it is defined and where it stands."""

    name: str
    task: str
    when: str
    """The rule in words."""
    trigger: dict[str, Any]
    """The rule itself; it may be given back as `when`."""
    paused: bool
    pause_reason: str
    next_tick: datetime | None
    cursor: datetime
    """Every tick up to here is accounted for in the ledger."""
    runs: int
    last_job: int | None
    skips: tuple[datetime, ...]
    """Single ticks, still to come, that were skipped by hand."""
    queue: str
    arguments: Json
    """By name. Those that the task marks as secret are shown as "[redacted]"."""
    policies: PoliciesView
    origin: Origin
    version: int
    """Raised by every edit, pause and resume."""
    description: str
    created_at: datetime
    updated_at: datetime
    priority: int = 0
    timeout: float | None = None
    tags: tuple[str, ...] = ()
    expires: float | None = None
    """Seconds after they are due until which its jobs may start."""
    retry: RetryView | None = None
    declared: str = ""
    """The fingerprint of what code declared last; empty: no code declares it."""
    undeclared: bool = False
    """Code declared it, and the app that answers knows its task and no longer declares it."""


def schedule_view(
    stored: StoredSchedule, secrets: Secrets = no_secrets, *, undeclared: bool = False
) -> ScheduleView:
    schedule, job = stored.schedule, stored.schedule.job
    return ScheduleView(
        name=stored.name,
        task=schedule.task,
        when=schedule.trigger.describe(),
        trigger=schedule.trigger.to_json(),
        paused=stored.paused,
        pause_reason=stored.pause_reason,
        next_tick=stored.next_tick,
        cursor=stored.cursor,
        runs=stored.runs,
        last_job=stored.last_job,
        skips=tuple(sorted(stored.skips)),
        queue=job.queue,
        arguments=raw(redacted(job.arguments, secrets(job.task))),
        policies=policies_view(schedule.policies),
        origin=stored.origin,
        version=stored.version,
        description=schedule.description,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        priority=job.priority,
        timeout=job.timeout,
        tags=job.tags,
        expires=job.expires.total_seconds() if isinstance(job.expires, timedelta) else None,
        retry=retry_view(job.retry),
        declared=stored.declared,
        undeclared=undeclared,
    )
