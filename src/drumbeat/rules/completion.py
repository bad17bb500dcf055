"""Completion: ticks that are counted from the end of the previous job.

`every(..., from_completion=True)` names one tick at a time, an interval after the previous job has
ended. While that job is unfinished there is no such tick, and nothing to account for: the stored
`next_tick` is then only when to look again. The cursor stays where it is, since no time was
accounted for; it is still what the commit is compared by.

Only a schedule whose trigger is such an interval itself is planned so. Inside `any_of` or behind a
calendar, where ticks of other kinds lie between, it is a plain interval.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.schedule import DueSchedule
from drumbeat.model.trigger import Trigger
from drumbeat.model.triggers.every import Every
from drumbeat.rules.overlap import unfinished
from drumbeat.rules.ticks import DueTicks, has_ended, has_started

LOOK_AGAIN = timedelta(seconds=1)
"""A job that takes long is not looked at more often than this, however short the interval."""


def interval_after_completion(trigger: Trigger) -> timedelta | None:
    """The interval, if the trigger counts from the end of the previous job."""
    return trigger.interval if isinstance(trigger, Every) and trigger.from_completion else None


def due_after_completion(due: DueSchedule, interval: timedelta, now: datetime) -> DueTicks:
    """The one tick that has come; or none, and when to look again."""
    stored = due.stored
    if unfinished(due.previous):
        tick: datetime | None = now + max(interval, LOOK_AGAIN)
    else:
        tick = _tick(due, interval)
    if tick is None or has_ended(stored.schedule, tick):
        return DueTicks(stored, (), now, stored.cursor, next_tick=None)
    if tick > now:
        return DueTicks(stored, (), now, stored.cursor, next_tick=tick)
    # The new job ends at some time after now, so the next tick comes an interval later or more.
    again = now + interval
    following = None if has_ended(stored.schedule, again) else again
    return DueTicks(stored, (tick,), now, cursor=now, next_tick=following)


def _tick(due: DueSchedule, interval: timedelta) -> datetime | None:
    """An interval after the previous end, unless that lies in time that is accounted for.

    So it does when there is no previous job, after a tick that was skipped, and after an edit or a
    pause, which let nothing fire in retrospect: then the stored tick holds.
    """
    stored, previous = due.stored, due.previous
    if previous is None or previous.finished_at is None:
        return stored.next_tick
    counted = previous.finished_at + interval
    if counted <= stored.cursor or not has_started(stored.schedule, counted):
        return stored.next_tick
    return counted
