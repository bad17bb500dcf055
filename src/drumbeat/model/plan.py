"""Plans: what becomes of a schedule's due ticks, decided before it is written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import JobSpec
from drumbeat.model.schedule import StoredSchedule


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
    """A person skipped it, or the schedule was edited before it was taken up."""
    UNKNOWN_TASK = "unknown_task"
    """The leader does not know the task, and many jobs of it wait for a node that does."""
    ELSEWHERE = "elsewhere"
    """Another instance led, and the tick was its to run. In-process mode only."""
    TOO_EXPENSIVE = "too_expensive"
    """It was missed, and which tick is the latest takes too many steps to find."""


@dataclass(frozen=True, slots=True)
class Fire:
    """One tick that fires, and the job that it submits."""

    tick_at: datetime
    job: JobSpec


@dataclass(frozen=True, slots=True)
class Skip:
    """A run of consecutive ticks that do not fire, all for one reason."""

    tick_at: datetime
    """The first of them."""
    through: datetime
    """The last of them; the first again if it is alone."""
    count: int
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of one schedule's due ticks.

    It is committed as a whole or not at all, and only if the schedule still stands as it was
    read: the same version, the same cursor, and the previous job finished or unfinished as it was.
    """

    before: StoredSchedule
    cursor: datetime
    """Every tick up to here is accounted for once this is committed."""
    next_tick: datetime | None
    as_of: datetime
    fires: tuple[Fire, ...] = ()
    skips: tuple[Skip, ...] = ()
    cancels: tuple[JobId, ...] = ()
    """Unfinished jobs that the new ones replace."""
    assumes_unfinished: bool | None = None
    """Whether the previous job was unfinished: it must still be so. None: it does not matter."""

    @property
    def name(self) -> str:
        """The schedule that it is for."""
        return self.before.schedule.name


@dataclass(frozen=True, slots=True)
class Edit:
    """A guarded write of a schedule by a person or by a deployment.

    It is applied only if the schedule still stands as `before` (None: does not exist), by version
    and cursor. `skips` accounts for ticks that were due under the old definition and not yet taken
    up. `after` None removes the schedule; its ledger stays.
    """

    before: StoredSchedule | None
    after: StoredSchedule | None
    skips: tuple[Skip, ...] = ()

    @property
    def name(self) -> str:
        """The schedule that it is for."""
        stored = self.after or self.before
        assert stored is not None, "an edit has a before or an after"
        return stored.schedule.name


@dataclass(frozen=True, slots=True)
class Committed:
    """The plan was written; these are its jobs, in the order of its fires.

    A tick that had fired before, since someone backfilled it, has no job among them.
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
    """A row of the ledger: one tick that fired, or a run of ticks that were skipped together."""

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
