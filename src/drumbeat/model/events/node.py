"""Events of nodes, their services and their clocks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.model.events.event import Event
from drumbeat.model.ids import NodeId
from drumbeat.model.part import Part


@dataclass(frozen=True, slots=True)
class NodeStarted(Event):
    """The node runs all its services."""

    node: NodeId
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeDraining(Event):
    """The node takes no more work and finishes what it has."""

    node: NodeId
    reason: str


@dataclass(frozen=True, slots=True)
class NodeStopped(Event):
    """The node has stopped."""

    node: NodeId


@dataclass(frozen=True, slots=True)
class ServiceFailed(Event):
    """One pass of a service failed; the service goes on after a pause."""

    service: str
    error: BaseException
    failures: int
    """Passes that failed in a row."""
    backend: Part | None = None
    """The backend that the service asks; None: it is not known."""


@dataclass(frozen=True, slots=True)
class ServiceRecovered(Event):
    """A service that had failed passes again, or has ended."""

    service: str
    failures: int
    """Passes that had failed in a row."""


@dataclass(frozen=True, slots=True)
class ListenerFailed(Event):
    """A listener raised an error, which changed nothing."""

    event: Event
    error: BaseException


@dataclass(frozen=True, slots=True)
class SettingUnused(Event):
    """A setting that names a backend is given and not used."""

    why: str
    """A sentence that names the setting."""


@dataclass(frozen=True, slots=True)
class LabelShared(Event):
    """Another live node has the same label. That works; people cannot tell the two apart."""

    node: NodeId
    other: NodeId


@dataclass(frozen=True, slots=True)
class ClockSkewed(Event):
    """This node's clock and the store's are too far apart to lead by."""

    node: NodeId
    skew: timedelta
    """How far this node is ahead of the store."""


@dataclass(frozen=True, slots=True)
class StoreFailed(Event):
    """The store did not answer a part of this node. All parts share one count."""

    error: BaseException
    since: datetime
    """When the first of the failures in a row was."""
    failures: int


@dataclass(frozen=True, slots=True)
class StoreAnswered(Event):
    """The store answers every part of this node again."""

    since: datetime
    """When it had stopped to."""
    failures: int


@dataclass(frozen=True, slots=True)
class StoreAwaited(Event):
    """The store did not answer while this node started; it is asked again after a pause."""

    store: str
    """Its address, with the password masked."""
    error: BaseException
    failures: int
    """How many tries have failed."""
    next_try: float
    """Seconds until the next try."""
    left: float
    """Seconds after which the start is given up."""


@dataclass(frozen=True, slots=True)
class FleetJoined(Event):
    """This node starts, and shares jobs and elections with all nodes of these addresses."""

    node: NodeId
    namespace: str
    store: str
    """Its address, without secrets."""
    coordinator: str
    """Its address, without secrets, or "the store"."""
