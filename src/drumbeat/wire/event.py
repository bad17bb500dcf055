"""The stream of events on the wire."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class EventKind(StrEnum):
    """What an event of the stream is about: its `event` field."""

    JOB = "job"
    """A job was created, or changed: a job."""
    TICK = "tick"
    """A tick fired, or a run of ticks was skipped, by any node: a row of the ledger."""
    SCHEDULE = "schedule"
    """A schedule was changed through any node: see `ScheduleToldView`."""
    LEADER = "leader"
    """Another leads, or nobody does: an election."""
    NODE = "node"
    """A node came, went or drains: a node."""
    QUEUE = "queue"
    """The counts of a queue changed: a queue."""
    AUDIT = "audit"
    """Somebody asked for a change, through any node: an entry of the audit log."""


class ScheduleToldView(Struct, frozen=True, kw_only=True):
    """A schedule that was changed."""

    schedule: str
    change: str
    """`put`, `pause`, `resume` or `remove`. Through the node that answers also `skip`, `unskip` and
    `hand back`, which through another node are told as `put`."""
    reason: str = ""
