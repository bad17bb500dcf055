"""In step: how instances that share no store name the same ticks, and leave them to the leader.

In the in-process mode every instance has a store of its own, and a cursor of its own in it. What
they share is the election, and the mark: the instant up to which some leader has taken the ticks.

**The same names.** An interval counts from when it was first stored, which here would be another
moment on each instance. So in this mode it counts from 1970-01-01, which all know without asking.

**The same place.** A tick up to the mark was somebody's, whatever became of it. An instance that
did not take it moves its cursor over it, and its ledger says that the tick was run elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from drumbeat.model.instant import EPOCH
from drumbeat.model.plan import Edit, Skip, SkipReason
from drumbeat.model.schedule import Schedule, StoredSchedule
from drumbeat.model.triggers.once import Once
from drumbeat.rules.completion import interval_after_completion
from drumbeat.rules.definition import moment_of
from drumbeat.rules.ticks import due_ticks, has_ended


def in_step(schedule: Schedule) -> Schedule:
    """The schedule with a start that is the same on every instance.

    A trigger that means the moment of its declaration stays as it is.
    """
    trigger = schedule.trigger
    if moment_of(trigger, EPOCH) != EPOCH:
        return schedule
    return replace(schedule, trigger=trigger.anchored(EPOCH))


def means_its_start(schedule: Schedule) -> bool:
    """Whether its one tick is when it was stored, so that instances cannot agree on an instant."""
    return isinstance(schedule.trigger, Once) and not schedule.trigger.at


def passed_over(stored: StoredSchedule, through: datetime) -> Edit | None:
    """Move the cursor over the ticks up to an instant: they are another's. None: there are none.

    At most as many as one plan may hold; then the next tick is still due, and the next edit goes
    on from there.
    """
    first = stored.next_tick
    if first is None or first > through:
        return None
    interval = interval_after_completion(stored.schedule.trigger)
    if interval is not None:
        following = max(first, through) + interval
        over = has_ended(stored.schedule, following)
        after = replace(stored, cursor=through, next_tick=None if over else following)
        return Edit(stored, after, (Skip(first, first, 1, SkipReason.ELSEWHERE),))
    due = due_ticks(stored, through)
    skip = Skip(due.ticks[0], due.ticks[-1], len(due.ticks), SkipReason.ELSEWHERE)
    still = frozenset(tick for tick in stored.skips if tick > due.cursor)
    after = replace(stored, cursor=due.cursor, next_tick=due.next_tick, skips=still)
    return Edit(stored, after, (skip,))
