"""The overview on the wire: what needs attention, and how the fleet and its schedules stand."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.model.fleet.attention import URGENT, Attention, AttentionKind
from drumbeat.model.jobs.job import Status
from drumbeat.wire.election import ElectionView


class AttentionView(Struct, frozen=True, kw_only=True):
    """Something that a person should look at."""

    kind: AttentionKind
    urgent: bool
    """Whether something does not run at the moment because of it."""
    subject: str
    """The name of the schedule, the queue, the node or the election."""
    message: str
    """A sentence."""
    since: datetime | None = None
    count: int = 1
    """How many ticks, jobs, terms or schedules."""


class ScheduleCountsView(Struct, frozen=True, kw_only=True):
    """How many schedules there are, and how many stand how."""

    total: int
    paused: int
    failing: int
    """Of those that failed lately."""
    overdue: int
    ended: int
    """They have no further tick."""
    undeclared: int
    """The code of this server does not declare them: their declaration was removed, or another app
    has it."""


class NodeCountsView(Struct, frozen=True, kw_only=True):
    """How many nodes there are, and how busy they are."""

    alive: int
    draining: int
    gone: int
    """They stopped, or died, and are still listed."""
    slots: int
    busy: int


class WaitsView(Struct, frozen=True, kw_only=True):
    """How long jobs waited for a worker, in seconds."""

    p50: float
    p95: float
    p99: float
    jobs: int
    """Of how many of the newest jobs."""


class OverviewView(Struct, frozen=True, kw_only=True):
    """The state of the whole fleet."""

    as_of: datetime
    attention: tuple[AttentionView, ...]
    """What needs attention, the most urgent first."""
    schedules: ScheduleCountsView
    nodes: NodeCountsView
    jobs: dict[Status, int]
    """How many jobs stand where."""
    oldest_age_seconds: float | None
    """How long the job has waited that has waited longest."""
    per_minute: dict[Status, float] | None
    """How many jobs end how in a minute; null: this server has not looked for long enough."""
    waits: WaitsView | None
    """Null: no job has started lately."""
    election: ElectionView


class HistoryView(Struct, frozen=True, kw_only=True):
    """How many jobs there were over the last hour, as this server has seen it: parallel lists."""

    at: tuple[datetime, ...]
    queued: tuple[int, ...]
    running: tuple[int, ...]
    pending: tuple[int, ...]
    completed_per_minute: tuple[float | None, ...]
    """Since the point before; null: that was long ago."""
    failed_per_minute: tuple[float | None, ...]


def attention_view(attention: Attention) -> AttentionView:
    return AttentionView(
        kind=attention.kind,
        urgent=attention.kind in URGENT,
        subject=attention.subject,
        message=attention.message,
        since=attention.since,
        count=attention.count,
    )
