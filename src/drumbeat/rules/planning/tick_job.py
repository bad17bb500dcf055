"""The job that a tick submits, and when it runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import blake2b

from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import LEADER_QUEUE, JobSpec, Limit
from drumbeat.model.schedules.policy import Overlap, RunOn
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.time.instant import MICROSECOND

AT_ONCE = timedelta(0)
BITS = 64
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


def jitter(name: str, tick: datetime, below: timedelta) -> timedelta:
    """A share of `below`, from zero up to less than it, fixed by the name and the tick."""
    if not below:
        return below
    digest = blake2b(f"{name}\0{tick.isoformat()}".encode(), digest_size=BITS // 8).digest()
    # In whole numbers: a float could round the largest share up to all of it.
    share = int.from_bytes(digest, "big") * (below // MICROSECOND) >> BITS
    return timedelta(microseconds=share)
