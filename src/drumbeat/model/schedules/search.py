"""Searches for schedules: which are wanted, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ScheduleState(StrEnum):
    """How a schedule stands."""

    OK = "ok"
    FAILING = "failing"
    """Its last run that has ended failed."""
    OVERDUE = "overdue"
    """A tick is due and no leader has handled it."""
    PAUSED = "paused"
    ENDED = "ended"
    """It has no further tick."""


class ScheduleOrder(StrEnum):
    """How a list of schedules is ordered; with `-` the other way round."""

    NAME = "name"
    NEXT = "next"
    STATE = "state"
    TASK = "task"
    NAME_DOWN = "-name"
    NEXT_DOWN = "-next"
    STATE_DOWN = "-state"
    TASK_DOWN = "-task"

    @property
    def is_down(self) -> bool:
        return self.startswith("-")

    @property
    def by(self) -> ScheduleOrder:
        """The same order upwards."""
        return ScheduleOrder(self.removeprefix("-"))


@dataclass(frozen=True, slots=True)
class ScheduleSearch:
    """Which schedules are wanted; an empty field does not restrict."""

    search: str = ""
    """Words that are all in the name, the task, the tags or the rule."""
    state: ScheduleState | None = None
    undeclared: bool = False
    """Only those that code declared and no longer does."""
    tag: str | None = None
    order: ScheduleOrder = ScheduleOrder.NAME
