"""Schedules: durable rules that submit a task, and where each of them stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from drumbeat.model.errors import InvalidInput
from drumbeat.model.ids import JobId
from drumbeat.model.job import JobSpec, Status
from drumbeat.model.policy import Policies
from drumbeat.model.trigger import Trigger

LONGEST_NAME = 200


class Origin(StrEnum):
    """Who wrote a schedule's present definition."""

    CODE = "code"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The definition: what to run, when, and under which policies."""

    name: str
    trigger: Trigger
    job: JobSpec
    """The job that each tick submits; its schedule and tick are filled in when it fires."""
    policies: Policies = field(default_factory=Policies)
    description: str = ""

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > LONGEST_NAME:
            raise InvalidInput(
                f"a schedule's name must have 1 to {LONGEST_NAME} characters, not {len(self.name)}"
            )

    @property
    def task(self) -> str:
        """The task that it submits."""
        return self.job.task


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """A schedule as the store has it. Its ledger accounts for every tick up to the cursor."""

    schedule: Schedule
    version: int
    """Raised by every edit, pause and resume; firing leaves it alone."""
    cursor: datetime
    next_tick: datetime | None
    """The first tick after the cursor; None when there is none to come."""
    created_at: datetime
    updated_at: datetime
    origin: Origin = Origin.CODE
    declared: str = ""
    """The fingerprint of the definition that code declared last: tells an edit from a redeploy."""
    paused: bool = False
    pause_reason: str = ""
    runs: int = 0
    """Ticks fired so far."""
    last_job: JobId | None = None
    """The job of the last tick that fired."""
    skips: frozenset[datetime] = frozenset()
    """Single ticks, still to come, that were skipped by hand."""

    @property
    def name(self) -> str:
        """Its schedule's name."""
        return self.schedule.name


@dataclass(frozen=True, slots=True)
class Revision:
    """How a schedule was changed last, without its definition: firing leaves all of it alone."""

    name: str
    version: int
    updated_at: datetime
    paused: bool = False
    pause_reason: str = ""


@dataclass(frozen=True, slots=True)
class Previous:
    """The job of the last tick that fired, as the store had it when the schedule was read."""

    job_id: JobId
    status: Status
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule whose next tick has come, with all that planning needs to know."""

    stored: StoredSchedule
    previous: Previous | None
    stranded: int | None = None
    """How many of its jobs wait unstarted, if the leader does not know its task; else None."""


@dataclass(frozen=True, slots=True)
class Due:
    """The schedules that are due, and the instant that the store judged by."""

    schedules: tuple[DueSchedule, ...]
    as_of: datetime
    next_at: datetime | None
    """The earliest next tick of a schedule that is not in this batch."""


@dataclass(frozen=True, slots=True)
class Found:
    """Schedules by name, in the order asked for, and the store's time."""

    schedules: tuple[StoredSchedule | None, ...]
    as_of: datetime
