"""Events of elections, coordinators and locks."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.events.event import Event
from drumbeat.model.ids import NodeId
from drumbeat.model.part import Asked


class LeadershipGained(Event):
    """This node leads, and the store has accepted its epoch."""

    election: str
    node: NodeId
    epoch: int


class LeadershipLost(Event):
    """This node no longer leads."""

    election: str
    node: NodeId
    epoch: int
    reason: str
    graceful: bool = False
    """It gave up its term voluntarily."""


class ElectionOff(Event):
    """This node starts without an election: it acts as a leader, like every other node."""

    node: NodeId
    runs_everywhere: bool = True
    """Whether each instance has a store of its own, so that every instance runs every tick."""
    local_locks: bool = True
    """Whether locks and shared configuration are known to this process only."""


class CoordinatorFailed(Event):
    """The coordinator did not answer, or answered with an error."""

    election: str
    error: BaseException
    since: datetime | None = None
    """When the first of the consecutive failures was."""
    failures: int = 1
    """The number of consecutive failures."""
    asked: Asked = "coordinator"
    """Who was asked for the leadership; if it is the store, `StoreFailed` follows too."""


class CoordinatorAnswered(Event):
    """The coordinator answers again."""

    election: str
    since: datetime
    """When the outage began."""
    failures: int
    asked: Asked = "coordinator"
    """Who was asked for the leadership."""


class LockFailed(Event):
    """A lock was held by someone else, or was lost while it was held."""

    name: str
    error: BaseException


class LeaderEvicted(Event):
    """This node found the process of the leader dead, and ended its term at the coordinator."""

    election: str
    node: NodeId
    leader: NodeId
    token: int
    """Of the term that was ended."""


class LeaderForeign(Event):
    """The leader does not serve this node: probably two apps share one namespace."""

    node: NodeId
    leader: NodeId
    schedules: tuple[str, ...] = ()
    """Schedules of this instance that the leader does not know; empty on a shared store, of which
    the leader is not a node of the fleet."""
