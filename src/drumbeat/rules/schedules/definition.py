"""Definitions in their stored form: the trigger bound to a name and to a fixed start."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.time.instant import MICROSECOND
from drumbeat.model.triggers.any_of import AnyOf
from drumbeat.model.triggers.once import Once
from drumbeat.model.triggers.trigger import Excluding, Trigger


def prepared(schedule: Schedule, now: datetime, before: StoredSchedule | None = None) -> Schedule:
    """The schedule with its trigger bound to its name, and started now or as in the stored one."""
    trigger = schedule.trigger.bound(schedule.name)
    if before is not None:
        trigger = trigger.with_anchor_of(before.schedule.trigger)
    return replace(schedule, trigger=trigger.anchored(now))


def defines(schedule: Schedule, stored: StoredSchedule, now: datetime) -> bool:
    """Whether storing the schedule would not change the stored definition."""
    return prepared(schedule, now, stored) == stored.schedule


def cursor_for(trigger: Trigger, now: datetime) -> datetime:
    """The cursor of a trigger that is stored now: now, or just before it for `once()`."""
    return now - MICROSECOND if _means_now(trigger) else now


def _means_now(trigger: Trigger) -> bool:
    match trigger:
        case Once():
            return not trigger.at and trigger.start is None
        case AnyOf():
            return any(_means_now(member) for member in trigger.members)
        case Excluding():
            return _means_now(trigger.trigger)
        case _:
            return False
