"""In-process mode: how instances without a shared store agree on the ticks of the leader.

In the in-process mode every instance has its own store and its own cursor. They share the election
and the mark: the instant up to which some leader has handled the ticks.

**The same ticks.** An interval normally starts when it is first stored, which would differ between
instances. In this mode it starts at 1970-01-01 on every instance.

**The same position.** Some leader has handled every tick up to the mark. The other instances move
their cursors past it, and their ledgers record that the ticks ran elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from drumbeat.model.schedules.plan import Edit, Skip, SkipReason
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.time.instant import EPOCH
from drumbeat.model.triggers.once import Once
from drumbeat.rules.planning.completion_interval import interval_after_completion
from drumbeat.rules.planning.ticks import due_ticks, has_ended
from drumbeat.rules.schedules.definition import cursor_for


def in_step(schedule: Schedule) -> Schedule:
    """The schedule with a start that is the same on every instance.

    A trigger that means the moment of its declaration is not changed.
    """
    trigger = schedule.trigger
    if cursor_for(trigger, EPOCH) != EPOCH:
        return schedule
    return replace(schedule, trigger=trigger.anchored(EPOCH))


def means_its_start(schedule: Schedule) -> bool:
    """Whether its one tick is the moment of storing, so that instances cannot agree on it."""
    return isinstance(schedule.trigger, Once) and not schedule.trigger.at


def passed_over(stored: StoredSchedule, through: datetime) -> Edit | None:
    """Skip the ticks up to an instant, since another instance handled them. None: there are none.

    At most as many as one plan may contain; the next edit continues from there.
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
