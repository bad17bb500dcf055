"""Events of schedules and their ticks."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.events.event import Event
from drumbeat.model.ids import JobId
from drumbeat.model.schedules.plan import SkipReason


class ScheduleDeclared(Event):
    """A schedule that is declared in code is in the store."""

    schedule: str
    task: str
    created: bool


class ScheduleDrifted(Event):
    """The stored schedule differs from the code, because a person edited it. It was not changed."""

    schedule: str


class ScheduleChangeWaits(Event):
    """Code changed a schedule that has ticks due: the leader handles those first.

    The stored definition stays until then, and `ScheduleDeclared` follows.
    """

    schedule: str
    task: str


class TicksDropped(Event):
    """A change or removal of a schedule skipped due ticks, with the reason `overridden`."""

    schedule: str
    tick_at: datetime
    through: datetime
    count: int
    """Above 50,000 it means "at least"."""


class SchedulesUnknown(Event):
    """The store has schedules from code whose task this node does not know, as after a rollback.

    Emitted when a node has started, and when the number changes.
    """

    schedules: tuple[str, ...]
    """The first of them by name, at most 20."""
    count: int


class SchedulesUndeclared(Event):
    """The store has schedules of tasks that this node knows, which code no longer declares.

    Emitted when a node has started, and when the number changes.
    """

    schedules: tuple[str, ...]
    """The first of them by name, at most 20."""
    count: int


class ScheduleChanged(Event):
    """A schedule was created, replaced, paused, resumed, skipped once or removed."""

    schedule: str
    change: str
    reason: str = ""


class PlanFailed(Event):
    """The ticks of a schedule could not be planned; other schedules are not affected."""

    schedule: str
    error: BaseException


class TickFired(Event):
    """A tick submitted its job."""

    schedule: str
    tick_at: datetime
    job_id: JobId
    epoch: int
    lateness: timedelta


class TickSkipped(Event):
    """One or several consecutive ticks did not fire."""

    schedule: str
    tick_at: datetime
    through: datetime
    count: int
    reason: SkipReason
    epoch: int


class TickPassed(Event):
    """Ticks were left to the instance that leads. In-process mode only."""

    schedule: str
    task: str
    tick_at: datetime
    through: datetime
    count: int


class TickRaced(Event):
    """A schedule had changed while its ticks were planned; they are planned again."""

    schedule: str
