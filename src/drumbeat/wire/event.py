"""The stream of events on the wire."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from drumbeat.model.plan import Outcome, SkipReason


class EventKind(StrEnum):
    """What an event of the stream is about: its `event` field."""

    JOB = "job"
    """A job was created, or changed: a job."""
    TICK = "tick"
    """A tick fired or was skipped by the node that answers: see `TickToldView`."""
    SCHEDULE = "schedule"
    """A schedule was changed through the node that answers: see `ScheduleToldView`."""
    LEADER = "leader"
    """Another leads, or nobody does: an election."""
    NODE = "node"
    """A node came, went or drains: a node."""
    QUEUE = "queue"
    """The counts of a queue changed: a queue."""
    AUDIT = "audit"
    """Somebody asked for a change, through any node: an entry of the audit log."""


class TickToldView(Struct, frozen=True, kw_only=True):
    """A tick that fired, or a run of ticks that were skipped."""

    schedule: str
    tick_at: datetime
    through: datetime
    count: int
    outcome: Outcome
    reason: SkipReason | None = None
    job_id: int | None = None
    epoch: int


class ScheduleToldView(Struct, frozen=True, kw_only=True):
    """A schedule that was changed."""

    schedule: str
    change: str
    reason: str = ""
