"""The job that a tick submits."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import LEADER_QUEUE, JobSpec, Limit
from drumbeat.model.schedules.policy import Overlap, RunOn
from drumbeat.model.schedules.schedule import Schedule

AT_ONCE = timedelta(0)
changed = fast_replace(JobSpec)


def job_of(schedule: Schedule, tick: datetime, run_at: datetime | None) -> JobSpec:
    """The schedule's template as the job of one tick, to run at an instant (None: at once)."""
    template = schedule.job
    return changed(
        template,
        queue=LEADER_QUEUE if schedule.policies.run_on is RunOn.LEADER else template.queue,
        run_at=run_at,
        delay=AT_ONCE,
        schedule=schedule.name,
        tick_at=tick,
        limits=limits_of(schedule),
        trace=None,
    )


def limits_of(schedule: Schedule) -> tuple[Limit, ...]:
    """The template's limits, and a limit of one unless the schedule allows overlap."""
    limits = schedule.job.limits
    if schedule.policies.overlap is Overlap.ALLOW:
        return limits
    return (*limits, Limit(f"schedule:{schedule.name}", 1))
