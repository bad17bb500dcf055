"""How a schedule stands, and the search and the order of many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.model.schedules.search import ScheduleOrder, ScheduleSearch, ScheduleState
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.schedules.overdue import overdue

LAST = datetime.max.replace(tzinfo=UTC)
URGENCY = (
    ScheduleState.OVERDUE,
    ScheduleState.FAILING,
    ScheduleState.PAUSED,
    ScheduleState.ENDED,
    ScheduleState.OK,
)
MOST_DESCRIBED = 20_000


@dataclass(frozen=True, slots=True)
class AllSchedules:
    """All schedules at one moment, by name."""

    as_of: datetime
    stored: Sequence[StoredSchedule]
    failing: Collection[str]
    """The names of those whose last run failed."""
    undeclared: Collection[str]
    """The names of those that code declared and no longer does."""
    unknown: Collection[str] = ()
    """The names of those whose task our code does not know either."""

    def is_in_code(self, name: str) -> bool:
        return name not in self.undeclared and name not in self.unknown

    def state_of(self, stored: StoredSchedule) -> ScheduleState:
        return schedule_state(stored, self.as_of, failing=stored.name in self.failing)


def schedule_state(stored: StoredSchedule, now: datetime, *, failing: bool) -> ScheduleState:
    """How a schedule stands. What keeps it from running comes before what went wrong."""
    if stored.paused:
        return ScheduleState.PAUSED
    if stored.next_tick is None:
        return ScheduleState.FAILING if failing else ScheduleState.ENDED
    if overdue(stored.next_tick, now, paused=False) is not None:
        return ScheduleState.OVERDUE
    return ScheduleState.FAILING if failing else ScheduleState.OK


def found_schedules(every: AllSchedules, wanted: ScheduleSearch) -> list[StoredSchedule]:
    """The schedules that match, in the wanted order."""
    words = wanted.search.lower().split()
    found = [each for each in every.stored if _matches(each, every, wanted, words)]
    by = wanted.order.by
    if by is not ScheduleOrder.NAME:
        found.sort(key=lambda each: _rank(each, every, by))
    if wanted.order.is_down:
        found.reverse()
    return found


def _matches(
    stored: StoredSchedule, every: AllSchedules, wanted: ScheduleSearch, words: Iterable[str]
) -> bool:
    if wanted.tag is not None and wanted.tag not in stored.schedule.job.tags:
        return False
    if wanted.undeclared and every.is_in_code(stored.name):
        return False
    if wanted.state is not None and every.state_of(stored) is not wanted.state:
        return False
    text = _text(stored) if words else ""
    return all(word in text for word in words)


def _text(stored: StoredSchedule) -> str:
    schedule = stored.schedule
    parts = (stored.name, schedule.task, *schedule.job.tags, described(schedule.trigger))
    return "\n".join(parts).lower()


def _rank(stored: StoredSchedule, every: AllSchedules, by: ScheduleOrder) -> tuple[object, str]:
    if by is ScheduleOrder.NEXT:
        waits = stored.paused or stored.next_tick is None
        return (LAST if waits else stored.next_tick), stored.name
    if by is ScheduleOrder.TASK:
        return stored.schedule.task, stored.name
    return URGENCY.index(every.state_of(stored)), stored.name


@lru_cache(MOST_DESCRIBED)
def described(trigger: Trigger) -> str:
    """A trigger in words."""
    return trigger.describe()
