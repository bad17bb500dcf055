"""Explanations: why a schedule did or did not run, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from drumbeat.model.jobs.job import Job
from drumbeat.model.schedules.plan import TickRecord


@dataclass(frozen=True, slots=True)
class ExplainedTick:
    """A row of the ledger, and what it means."""

    tick: TickRecord
    explanation: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The outcome of a schedule's last ticks, and what may prevent it from running."""

    name: str
    sentences: tuple[str, ...]
    paused: bool
    next: tuple[datetime, ...]
    """The next ticks."""
    previous: Job | None
    """The job of its last tick that fired."""
    ticks: tuple[ExplainedTick, ...]
    """The latest first."""
