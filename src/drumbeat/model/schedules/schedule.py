"""Schedules: definitions that submit a task at their ticks, and their stored state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from drumbeat.model.errors import InvalidInput
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.model.schedules.policy import Policies
from drumbeat.model.triggers.trigger import Trigger

LONGEST_NAME = 200


class Origin(StrEnum):
    """Who wrote the present definition of a schedule."""

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
        return self.job.task


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """A schedule in the store. Its ledger contains every tick up to the cursor."""

    schedule: Schedule
    version: int
    """Raised by every edit, pause and resume, but not by firing."""
    cursor: datetime
    next_tick: datetime | None
    """The first tick after the cursor; None if there is none."""
    created_at: datetime
    updated_at: datetime
    origin: Origin = Origin.CODE
    declared: str = ""
    """The fingerprint of the last definition that code declared."""
    paused: bool = False
    pause_reason: str = ""
    runs: int = 0
    """Ticks fired so far."""
    last_job: JobId | None = None
    """The job of the last tick that fired."""
    skips: frozenset[datetime] = frozenset()
    """Single future ticks that a person skipped."""

    @property
    def name(self) -> str:
        return self.schedule.name


@dataclass(frozen=True, slots=True)
class Revision:
    """The last change of a schedule, without its definition. Firing does not change it."""

    name: str
    version: int
    updated_at: datetime
    paused: bool = False
    pause_reason: str = ""


@dataclass(frozen=True, slots=True)
class Previous:
    """The job of the last tick that fired, when the schedule was read."""

    job_id: JobId
    status: Status
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule whose next tick is due, with everything that planning needs."""

    stored: StoredSchedule
    previous: Previous | None
    stranded: int | None = None
    """The number of its waiting jobs, if the leader does not know its task; else None."""


@dataclass(frozen=True, slots=True)
class Due:
    """The due schedules, and the store's time."""

    schedules: tuple[DueSchedule, ...]
    as_of: datetime
    next_at: datetime | None
    """The earliest next tick of a schedule that is not in this batch."""


@dataclass(frozen=True, slots=True)
class Found:
    """Schedules in the requested order, and the store's time."""

    schedules: tuple[StoredSchedule | None, ...]
    as_of: datetime
