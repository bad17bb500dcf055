"""Intervals that count from the end of the previous job.

`every(..., from_completion=True)` has one tick at a time: an interval after the previous job ended.
While that job is unfinished there is no tick, and the stored `next_tick` only says when to check
again. The cursor then stays, and the commit still compares it.

This applies only if the trigger of the schedule is such an interval itself. Inside `any_of` or
behind a calendar it is a plain interval.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.model.triggers.every import Every
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.overlap import unfinished
from drumbeat.rules.planning.ticks import DueTicks, has_ended, has_started

LOOK_AGAIN = timedelta(seconds=1)
"""A running job is not checked more often than this, however short the interval is."""


def interval_after_completion(trigger: Trigger) -> timedelta | None:
    """The interval, if the trigger counts from the end of the previous job."""
    return trigger.interval if isinstance(trigger, Every) and trigger.from_completion else None


def due_after_completion(due: DueSchedule, interval: timedelta, now: datetime) -> DueTicks:
    """The one tick that is due; or none, and when to check again."""
    stored = due.stored
    if unfinished(due.previous):
        tick: datetime | None = now + max(interval, LOOK_AGAIN)
    else:
        tick = _tick(due, interval)
    if tick is not None and has_ended(stored.schedule, tick):
        tick = None
    if tick is None or tick > now:
        return DueTicks(stored, (), now, stored.cursor, next_tick=tick)
    # The new job ends at some time after now, so the next tick comes an interval later or more.
    again = now + interval
    following = None if has_ended(stored.schedule, again) else again
    return DueTicks(stored, (tick,), now, cursor=now, next_tick=following)


def _tick(due: DueSchedule, interval: timedelta) -> datetime | None:
    """An interval after the previous end, or the stored tick if that instant is before the cursor.

    The stored tick also applies if there is no previous job. The cursor may be later after a
    skipped tick, an edit or a pause, none of which lets ticks fire in retrospect.
    """
    stored, previous = due.stored, due.previous
    if previous is None or previous.finished_at is None:
        return stored.next_tick
    counted = previous.finished_at + interval
    if counted <= stored.cursor or not has_started(stored.schedule, counted):
        return stored.next_tick
    return counted
