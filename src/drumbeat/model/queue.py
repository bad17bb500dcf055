"""Queues: where jobs wait for workers, as people look at them and hold them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from drumbeat.model.job import Status


@dataclass(frozen=True, slots=True)
class PausedQueue:
    """Why no job of a queue is claimed, and since when."""

    reason: str
    since: datetime


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """A queue that has or had jobs, or that is paused."""

    name: str
    counts: Mapping[Status, int] = field(default_factory=dict[Status, int])
    """How many of its jobs stand where. Statuses without jobs are left out."""
    oldest_at: datetime | None = None
    """The earliest `run_at` among its queued jobs: since then somebody waits for a worker."""
    paused: PausedQueue | None = None
    totals: Mapping[Status, int] = field(default_factory=dict[Status, int])
    """How many of its jobs have ended how, ever: those that are kept, and those forgotten since.

    A job that was reopened has not ended, and counts when it does. Statuses without jobs are left
    out.
    """


@dataclass(frozen=True, slots=True)
class Queues:
    """All queues by name, and the store's time."""

    as_of: datetime
    queues: tuple[QueueRecord, ...]
