"""Backfills: past ticks that a person asks to fire."""

from __future__ import annotations

from datetime import datetime
from itertools import islice, takewhile

from drumbeat.model.errors import InvalidInput
from drumbeat.model.schedules.plan import Fire
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.time.instant import MICROSECOND, aware
from drumbeat.rules.planning.completion_interval import interval_after_completion
from drumbeat.rules.planning.tick_job import job_of
from drumbeat.rules.planning.ticks import firing_ticks

MOST = 10_000
"""Ticks that one backfill may fire."""


def backfill(
    stored: StoredSchedule, start: datetime, end: datetime, now: datetime
) -> tuple[Fire, ...]:
    """The ticks from `start` to `end`, both included, as jobs that run as soon as they can.

    Excluded ticks are left out, and there is no jitter. Misfire policy, overlap policy and
    `max_runs` do not apply, since a person asks for these ticks. But the jobs have the schedule's
    limit, so they run one after the other unless it allows overlap. The store leaves out ticks that
    have fired.
    """
    schedule = stored.schedule
    first, last = aware("start", start), aware("end", end)
    _refuse_impossible(schedule, first, last, now)
    past = takewhile(lambda tick: tick <= last, firing_ticks(schedule, first - MICROSECOND))
    ticks = list(islice(past, MOST + 1))
    if len(ticks) > MOST:
        raise InvalidInput(
            f"from {first.isoformat()} to {last.isoformat()} schedule {schedule.name!r} has more "
            f"than {MOST:,} ticks; the {MOST:,}th is at {ticks[MOST - 1].isoformat()}: "
            f"backfill in parts"
        )
    return tuple(Fire(tick, job_of(schedule, tick, run_at=None)) for tick in ticks)


def _refuse_impossible(schedule: Schedule, start: datetime, end: datetime, now: datetime) -> None:
    if start > end:
        raise InvalidInput(f"start {start.isoformat()} must not come after end {end.isoformat()}")
    if end > now:
        raise InvalidInput(
            f"end {end.isoformat()} is in the future; only past ticks can be backfilled"
        )
    if interval_after_completion(schedule.trigger) is not None:
        raise InvalidInput(
            f"schedule {schedule.name!r} counts from the end of its last job, so it has no past "
            f"ticks except those that fired"
        )
