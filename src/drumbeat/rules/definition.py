"""Definitions as they are stored: bound to a name, and counted from a start that is fixed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from drumbeat.model.schedule import Schedule, StoredSchedule
from drumbeat.model.trigger import Excluding, Trigger
from drumbeat.model.triggers.any_of import AnyOf
from drumbeat.model.triggers.once import Once
from drumbeat.rules.ticks import MICROSECOND


def made_ready(schedule: Schedule, now: datetime, before: StoredSchedule | None = None) -> Schedule:
    """The schedule with its trigger spread by its name and counted from now.

    If the same rule is stored already, it goes on counting from where that one does.
    """
    trigger = schedule.trigger.bound(schedule.name)
    if before is not None:
        trigger = trigger.with_anchor_of(before.schedule.trigger)
    return replace(schedule, trigger=trigger.anchored(now))


def defines(schedule: Schedule, stored: StoredSchedule, now: datetime) -> bool:
    """Whether the stored definition is just what the schedule would be stored as."""
    return made_ready(schedule, now, stored) == stored.schedule


def moment_of(trigger: Trigger, now: datetime) -> datetime:
    """Where the cursor goes when a trigger is stored: over now, unless now is what it means.

    An interval counts from now, and its first tick comes when it is over. `once()` means now.
    """
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
