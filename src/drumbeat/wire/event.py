"""The stream of events on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec import Struct

from drumbeat.wire.audit import AuditView
from drumbeat.wire.election import ElectionView
from drumbeat.wire.job import JobView
from drumbeat.wire.node import NodeView
from drumbeat.wire.queue import QueueView
from drumbeat.wire.tick import TickView

READY, RESET = "ready", "reset"
"""The kinds of the first event of a stream: nothing was missed, or something was."""


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


EventView: TypeAlias = (
    JobView | TickView | ScheduleToldView | ElectionView | NodeView | QueueView | AuditView
)

EVENT_VIEWS: dict[EventKind, type[EventView]] = {
    EventKind.JOB: JobView,
    EventKind.TICK: TickView,
    EventKind.SCHEDULE: ScheduleToldView,
    EventKind.LEADER: ElectionView,
    EventKind.NODE: NodeView,
    EventKind.QUEUE: QueueView,
    EventKind.AUDIT: AuditView,
}
"""What each kind of event tells of."""


@dataclass(frozen=True, slots=True)
class FleetEvent:
    """Something that happened in the fleet."""

    id: str
    """Give it to `follow` to go on after this event."""
    kind: str
    """An `EventKind`, or `reset`: events were missed, so read everything again."""
    about: EventView | None
    """What the event tells of, in its new state; None for a `reset`."""


def read_event(fields: Mapping[str, str]) -> FleetEvent | None:
    """The event of these fields of a server-sent event; None for comments."""
    kind = fields.get("event")
    if kind is None:
        return None
    if kind in (READY, RESET):
        return FleetEvent(fields.get("id", ""), kind, None)
    about = msgspec.json.decode(fields.get("data", "{}"), type=EVENT_VIEWS[EventKind(kind)])
    return FleetEvent(fields.get("id", ""), kind, about)
