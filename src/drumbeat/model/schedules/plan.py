"""Plans: which due ticks of a schedule fire and which are skipped, before they are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.schedules.schedule import StoredSchedule


class Outcome(StrEnum):
    """How a tick ended."""

    FIRED = "fired"
    SKIPPED = "skipped"


class SkipReason(StrEnum):
    """Why a tick did not fire."""

    COALESCED = "coalesced"
    """A later missed tick fired in its place."""
    OVERLAP = "overlap"
    """The previous tick's job was unfinished."""
    PAUSED = "paused"
    EXCLUDED = "excluded"
    """A calendar excludes it."""
    MISSED_WINDOW = "missed_window"
    """It was too late to fire."""
    CAP = "cap"
    """Too many missed ticks; the later ones fired."""
    OVERRIDDEN = "overridden"
    """A person skipped it, or edited the schedule before a leader handled it."""
    UNKNOWN_TASK = "unknown_task"
    """The leader does not know the task, and many jobs of it wait for a node that does."""
    ELSEWHERE = "elsewhere"
    """Another instance led and handled the tick. In-process mode only."""
    TOO_EXPENSIVE = "too_expensive"
    """It was missed, and finding the latest tick takes too many steps."""


@dataclass(frozen=True, slots=True)
class Fire:
    """One tick that fires, and the job that it submits."""

    tick_at: datetime
    job: JobSpec


@dataclass(frozen=True, slots=True)
class Skip:
    """Consecutive ticks that do not fire, all for one reason."""

    tick_at: datetime
    """The first of them."""
    through: datetime
    """The last of them; the first again if it is alone."""
    count: int
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Plan:
    """The due ticks of one schedule that fire and that are skipped.

    It is committed completely or not at all, and only if the schedule has not changed since it was
    read: the same version, the same cursor, and the previous job still finished or unfinished.
    """

    before: StoredSchedule
    cursor: datetime
    """After the commit every tick up to here is in the ledger."""
    next_tick: datetime | None
    as_of: datetime
    fires: tuple[Fire, ...] = ()
    skips: tuple[Skip, ...] = ()
    cancels: tuple[JobId, ...] = ()
    """Unfinished jobs that the new ones replace."""
    assumes_unfinished: bool | None = None
    """Whether the previous job must still be unfinished; None: it may be either."""

    @property
    def name(self) -> str:
        return self.before.schedule.name


@dataclass(frozen=True, slots=True)
class Edit:
    """A guarded write of a schedule by a person or by a deployment.

    It is applied only if the schedule still has the version and cursor of `before` (None: it does
    not exist). `skips` are the ticks that were due by the old definition and that no leader has
    handled. With `after` None the schedule is deleted; its ledger stays.
    """

    before: StoredSchedule | None
    after: StoredSchedule | None
    skips: tuple[Skip, ...] = ()

    @property
    def name(self) -> str:
        stored = self.after or self.before
        assert stored is not None, "an edit has a before or an after"
        return stored.schedule.name


@dataclass(frozen=True, slots=True)
class Committed:
    """The plan was written; `jobs` are in the order of its fires.

    A tick that had fired before, by a backfill, has no job here.
    """

    name: str
    jobs: tuple[JobId, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The edit was applied."""

    name: str


@dataclass(frozen=True, slots=True)
class Raced:
    """The schedule had changed since it was read. Nothing was written: read it again."""

    name: str


@dataclass(frozen=True, slots=True)
class Backfilled:
    """The past tick fired now."""

    tick_at: datetime
    job_id: JobId


@dataclass(frozen=True, slots=True)
class AlreadyFired:
    """The past tick had fired before. Nothing was written."""

    tick_at: datetime


@dataclass(frozen=True, slots=True)
class TickRecord:
    """A row of the ledger: one tick that fired, or ticks that were skipped together."""

    schedule: str
    tick_at: datetime
    outcome: Outcome
    recorded_at: datetime
    lateness: timedelta
    through: datetime
    count: int = 1
    reason: SkipReason | None = None
    job_id: JobId | None = None
    leader: NodeId | None = None
    epoch: int | None = None
    backfilled: bool = False
