"""Policies: what a schedule does with missed and overlapping ticks, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, TypeAlias

from drumbeat.model.errors import InvalidPolicy
from drumbeat.model.time.instant import aware
from drumbeat.model.time.zones import read_policy

HIGHEST_CAP = 10_000


class Misfire(StrEnum):
    """What happens to ticks that no leader handled in time."""

    LATEST = "latest"
    """Only the last of them fires; the others are coalesced into it."""
    ALL = "all"
    """Each fires, up to the cap."""
    SKIP = "skip"
    """None fires."""


class Overlap(StrEnum):
    """What happens to a tick while the job of the previous tick is unfinished."""

    SKIP = "skip"
    """It is skipped."""
    ALLOW = "allow"
    """It fires."""
    QUEUE_ONE = "queue_one"
    """It fires, and its job waits for the other to end; while one waits, ticks are skipped."""
    REPLACE = "replace"
    """The unfinished job is cancelled and the new one follows it."""


class RunOn(StrEnum):
    """Where the jobs of a schedule run."""

    WORKER = "worker"
    """On any worker of the queue."""
    LEADER = "leader"
    """On the leader, which cancels them when it loses its lease."""


MisfireName: TypeAlias = Misfire | Literal["latest", "all", "skip"]
OverlapName: TypeAlias = Overlap | Literal["skip", "allow", "queue_one", "replace"]
RunOnName: TypeAlias = RunOn | Literal["worker", "leader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The policies of one schedule. Those for daylight saving time are part of its trigger."""

    misfire: Misfire = Misfire.LATEST
    window: timedelta = timedelta(hours=1)
    """How late a tick may still fire; an older one is skipped as `missed_window`."""
    cap: int = 1_000
    """How many missed ticks may fire at once; the oldest beyond it are skipped as `cap`."""
    overlap: Overlap = Overlap.SKIP
    jitter: timedelta = timedelta(0)
    """The job runs up to this long after its tick. The tick itself does not move."""
    start_at: datetime | None = None
    end_at: datetime | None = None
    max_runs: int | None = None
    run_on: RunOn = RunOn.WORKER

    def __post_init__(self) -> None:
        for field, kind in (("misfire", Misfire), ("overlap", Overlap), ("run_on", RunOn)):
            object.__setattr__(self, field, read_policy(kind, field, getattr(self, field)))
        for field in ("start_at", "end_at"):
            instant = getattr(self, field)
            object.__setattr__(self, field, instant and aware(field, instant))
        try:
            self._check()
        except TypeError as error:
            raise InvalidPolicy(f"a policy has a value of the wrong type: {error}") from None

    def _check(self) -> None:
        if self.window <= timedelta(0):
            raise InvalidPolicy(f"window must be longer than zero, not {self.window}")
        if not 1 <= self.cap <= HIGHEST_CAP:
            raise InvalidPolicy(f"cap must lie between 1 and {HIGHEST_CAP:,}, not {self.cap}")
        if self.jitter < timedelta(0):
            raise InvalidPolicy(f"jitter must be zero or more, not {self.jitter}")
        if self.max_runs is not None and self.max_runs < 1:
            raise InvalidPolicy(f"max_runs must be at least 1, not {self.max_runs}")
        if self.start_at and self.end_at and self.end_at <= self.start_at:
            raise InvalidPolicy(f"end_at {self.end_at} must come after start_at {self.start_at}")
