"""Firing: the job that a tick submits."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.job import LEADER_QUEUE, JobSpec, Limit
from drumbeat.model.policy import Overlap, RunOn
from drumbeat.model.schedule import Schedule
from drumbeat.model.swift import swift

AT_ONCE = timedelta(0)
new_job_spec = swift(JobSpec)


def job_of(schedule: Schedule, tick: datetime, run_at: datetime | None) -> JobSpec:
    """The schedule's template as the job of one tick, to run at an instant (None: at once)."""
    template = schedule.job
    # Field by field: `dataclasses.replace` takes twice as long, and this is done for every tick.
    return new_job_spec(
        task=template.task,
        arguments=template.arguments,
        queue=LEADER_QUEUE if schedule.policies.run_on is RunOn.LEADER else template.queue,
        priority=template.priority,
        run_at=run_at,
        delay=AT_ONCE,
        retry=template.retry,
        timeout=template.timeout,
        dedupe_key=template.dedupe_key,
        dedupe_for=template.dedupe_for,
        schedule=schedule.name,
        tick_at=tick,
        limits=limits_of(schedule),
        rate=template.rate,
        tags=template.tags,
    )


def limits_of(schedule: Schedule) -> tuple[Limit, ...]:
    """The template's limits, and one that keeps the runs of the schedule apart."""
    limits = schedule.job.limits
    if schedule.policies.overlap is Overlap.ALLOW:
        return limits
    return (*limits, Limit(f"schedule:{schedule.name}", 1))
