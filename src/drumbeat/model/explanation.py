"""Explanations: why a schedule did or did not run, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from drumbeat.model.job import Job
from drumbeat.model.plan import TickRecord


@dataclass(frozen=True, slots=True)
class ExplainedTick:
    """A row of the ledger, and what it means."""

    tick: TickRecord
    explanation: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of a schedule's last ticks, and what may keep it from running."""

    name: str
    sentences: tuple[str, ...]
    paused: bool
    next: tuple[datetime, ...]
    """Ticks that are to come."""
    previous: Job | None
    """The job of its last tick that fired."""
    ticks: tuple[ExplainedTick, ...]
    """The latest first."""
