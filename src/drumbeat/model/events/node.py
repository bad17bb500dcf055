"""Events of nodes, their services and their clocks."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.events.event import Event
from drumbeat.model.ids import NodeId
from drumbeat.model.part import Part


class NodeStarted(Event):
    """The node runs all its services."""

    node: NodeId
    roles: tuple[str, ...]


class NodeDraining(Event):
    """The node takes no new jobs and finishes those that it has."""

    node: NodeId
    reason: str


class NodeStopped(Event):
    """The node has stopped."""

    node: NodeId


class ServiceFailed(Event):
    """One pass of a service failed; the service goes on after a pause."""

    service: str
    error: BaseException
    failures: int
    """The number of consecutive failed passes."""
    backend: Part | None = None
    """The backend that the service uses; None: not known."""


class ServiceRecovered(Event):
    """A service works again after failures, or has ended."""

    service: str
    failures: int
    """The number of consecutive failed passes before."""


class HookFailed(Event):
    """An `on_start` or `on_stop` hook raised an error."""

    hook: str
    error: BaseException


class ListenerFailed(Event):
    """A listener raised an error, which has no other effect."""

    event: Event
    error: BaseException


class SettingUnused(Event):
    """A setting that names a backend is set but not used."""

    why: str
    """A sentence that names the setting."""


class WitnessTaken(Event):
    """This node holds its witness: from now on the others notice its death at once."""

    node: NodeId
    number: int


class WitnessLost(Event):
    """The session of this node's witness ended, or it could not be taken; it is taken again."""

    node: NodeId
    error: BaseException
    held: bool = True
    """False: the node has never held it, so its death is noticed by its heartbeats and leases."""


class NodeVanished(Event):
    """This leader found the process of another node dead, before its heartbeat expired."""

    node: NodeId


class LabelShared(Event):
    """Another live node has the same label. Both work, but people cannot tell them apart."""

    node: NodeId
    other: NodeId


class ClockSkewed(Event):
    """The clocks of this node and of the store differ too much for it to lead."""

    node: NodeId
    skew: timedelta
    """How far this node's clock is ahead of the store's."""


class StoreFailed(Event):
    """The store did not answer a service of this node. All services share one count."""

    error: BaseException
    since: datetime
    """When the first of the consecutive failures was."""
    failures: int


class StoreAnswered(Event):
    """The store answers all services of this node again."""

    since: datetime
    """When the outage began."""
    failures: int


class QueueFailed(Event):
    """The queue did not answer, or answered with an error. Jobs run on: the store hints workers."""

    error: BaseException
    since: datetime
    """When the first of the consecutive failures was."""
    failures: int


class QueueAnswered(Event):
    """The queue answers again."""

    since: datetime
    """When the outage began."""
    failures: int


class StoreAwaited(Event):
    """The store did not answer while this node started; the node retries after a pause."""

    store: str
    """Its address, with the password masked."""
    error: BaseException
    failures: int
    """How many tries have failed."""
    next_try: float
    """Seconds until the next try."""
    left: float
    """Seconds until the start is given up."""


class FleetJoined(Event):
    """This node starts, and shares jobs and elections with all nodes of these addresses."""

    node: NodeId
    namespace: str
    store: str
    """Its address, without secrets."""
    coordinator: str
    """Its address, without secrets, or "the store"."""
    queue: str
    """The address of what carries the tickets, without secrets, or "the store"."""
    queues: tuple[str, ...]
    """The queues that it serves, if it is a worker."""
    tasks: int
    """The number of tasks that its app has."""
    schedules: int
    """The number of schedules that its code declares."""


class TasksMissing(Event):
    """This node should schedule or run jobs, but its app has no tasks."""

    node: NodeId
