"""Planning ahead: the plan for a tick that has not come, made shortly before its instant.

At the instant only the commit is left to do. The plan is the one that would be made at the instant
itself: the store compares all that it depends on, and refuses it if anything has changed.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.policy import Overlap
from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.rules.planning.completion_interval import interval_after_completion
from drumbeat.rules.planning.overlap import unfinished

FRESH = timedelta(milliseconds=250)
"""How long after its instant a plan may still be committed as it is."""


def may_be_planned_ahead(due: DueSchedule) -> bool:
    """Whether its next tick can be decided now: it does not wait for a job to end."""
    schedule = due.stored.schedule
    if interval_after_completion(schedule.trigger) is not None:
        return False
    return schedule.policies.overlap is Overlap.ALLOW or not unfinished(due.previous)


def is_fresh(planned: Plan, now: datetime) -> bool:
    """Whether a plan that was made for an instant would be the same now, as far as time goes."""
    late = now - planned.as_of
    return late <= FRESH and late <= planned.before.schedule.policies.window
