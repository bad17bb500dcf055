"""Queues: their counts, and whether they are paused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from drumbeat.model.jobs.job import Status


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
    """The number of its jobs by status. Statuses without jobs are left out."""
    oldest_at: datetime | None = None
    """The earliest `run_at` of its queued jobs: since then a job waits for a worker."""
    paused: PausedQueue | None = None
    totals: Mapping[Status, int] = field(default_factory=dict[Status, int])
    """The number of its jobs that ever ended by status, including pruned ones.

    A reopened job counts when it ends again. Statuses without jobs are left out.
    """


@dataclass(frozen=True, slots=True)
class Queues:
    """All queues by name, and the store's time."""

    as_of: datetime
    queues: tuple[QueueRecord, ...]
