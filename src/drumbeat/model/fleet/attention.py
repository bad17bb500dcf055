"""What needs attention in a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AttentionKind(StrEnum):
    """Why something needs attention, the most urgent first."""

    NO_LEADER = "no_leader"
    """Nobody leads, so no tick fires."""
    OVERDUE = "overdue"
    """A tick is due and no leader has handled it."""
    NO_WORKER = "no_worker"
    """A queue has jobs, and no live worker serves it."""
    FAILING = "failing"
    """The last run of a schedule that has ended failed."""
    MISSED = "missed"
    """Ticks were skipped that nobody wanted to be skipped."""
    OLD_QUEUE = "old_queue"
    """A job has waited for long in a queue that is not paused."""
    PAUSED_QUEUE = "paused_queue"
    """A queue is paused and has jobs."""
    DEAD_NODE = "dead_node"
    """A node stopped without saying so."""
    LEADER_CHANGES = "leader_changes"
    """The leader changed several times."""
    UNDECLARED = "undeclared"
    """Code declared schedules and no longer does."""
    UNKNOWN_TASK = "unknown_task"
    """Our code neither declares a schedule nor knows its task."""


URGENT = frozenset({AttentionKind.NO_LEADER, AttentionKind.OVERDUE, AttentionKind.NO_WORKER})
"""Because of these something does not run at the moment."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that a person should look at."""

    kind: AttentionKind
    subject: str
    message: str
    since: datetime | None = None
    count: int = 1
