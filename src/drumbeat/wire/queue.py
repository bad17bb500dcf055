"""A queue on the wire."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import QueueRecord


class PausedView(Struct, frozen=True, kw_only=True):
    """Why no job of a queue is started, and since when."""

    reason: str
    since: datetime


class QueueView(Struct, frozen=True, kw_only=True):
    """A queue: how many jobs stand where, and how fast they end."""

    name: str
    counts: dict[Status, int]
    """How many of its jobs stand where; every status is there."""
    oldest_at: datetime | None = None
    """The earliest time from which on a queued job waits for a worker."""
    oldest_age_seconds: float | None = None
    paused: PausedView | None = None
    """Null: it is not paused."""
    totals: dict[Status, int] = {}
    """How many of its jobs have ended how, ever."""
    per_minute: dict[Status, float] | None = None
    """How many end how in a minute, since this server looked before; null: it had not, or only
    less than 2 seconds ago."""
    per_minute_over_seconds: float | None = None
    """The time that this is reckoned over: five minutes if it is asked often, else longer or
    shorter."""


def queue_view(record: QueueRecord, as_of: datetime) -> QueueView:
    oldest, paused = record.oldest_at, record.paused
    return QueueView(
        name=record.name,
        counts={status: record.counts.get(status, 0) for status in Status},
        oldest_at=oldest,
        oldest_age_seconds=None if oldest is None else max(0.0, (as_of - oldest).total_seconds()),
        paused=None if paused is None else PausedView(reason=paused.reason, since=paused.since),
        totals={status: record.totals.get(status, 0) for status in Status if status.final},
    )
