"""Nodes: the operating-system processes of the fleet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from drumbeat.model.errors import ConfigurationError
from drumbeat.model.ids import NodeId, label_of
from drumbeat.model.jobs.job import Hold, Progress


class Role(StrEnum):
    """What a node does."""

    SCHEDULER = "scheduler"
    WORKER = "worker"
    API = "api"


@dataclass(frozen=True, slots=True)
class NodeMetrics:
    """What a node has done since its start: a few numbers, however much that was."""

    claimed: int = 0
    """Jobs that it has claimed, each as often as it has."""
    completed: int = 0
    failed: int = 0
    """Jobs that were completed or failed by an attempt that it settled."""
    fired: int = 0
    """Ticks that it has fired as the leader."""
    last_claim_at: datetime | None = None
    """When it last claimed a job, by the store's clock; None: never."""


@dataclass(frozen=True, slots=True)
class Node:
    """What a node reports about itself with each heartbeat."""

    id: NodeId
    roles: frozenset[Role]
    version: str
    started_at: datetime
    slots: int = 0
    """How many jobs it may run at once."""
    busy: int = 0
    queues: tuple[str, ...] = ()
    draining: bool = False
    metrics: NodeMetrics = NodeMetrics()
    addresses: tuple[str, ...] = ()
    """Where it serves HTTP."""
    witness: int | None = None
    """The number that it holds in the store for as long as its process lives; None: it has none, so
    that only its heartbeats show whether it lives."""

    @property
    def label(self) -> str:
        return label_of(self.id)


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node in the store; `alive` by the store's clock."""

    node: Node
    beat_at: datetime
    expires_at: datetime
    alive: bool
    drain_requested: bool

    @property
    def died(self) -> bool:
        """Whether it ended without saying so: a node that stops expires at its last heartbeat."""
        return not self.alive and self.expires_at > self.beat_at


@dataclass(frozen=True, slots=True)
class ListedNode:
    """A node of the fleet, as the store and the coordinator know it."""

    node: Node
    alive: bool
    registered: bool | None
    """Whether the coordinator lists it; None: the coordinator does not answer."""
    beat_at: datetime | None = None
    """Its last heartbeat at the store; None: the store has none, since it is not shared."""
    expires_at: datetime | None = None
    drain_requested: bool = False


@dataclass(frozen=True, slots=True)
class Beat:
    """One heartbeat of a node, with the attempts that it holds."""

    node: Node
    lifetime: float
    """Seconds after which the store considers the node dead."""
    holds: tuple[Hold, ...] = ()
    progress: tuple[tuple[Hold, Progress], ...] = ()


@dataclass(frozen=True, slots=True)
class Pulse:
    """The store's answer to a heartbeat."""

    as_of: datetime
    cancelled: tuple[Hold, ...] = ()
    """Held attempts whose cancellation was requested."""
    lost: tuple[Hold, ...] = ()
    """Holds that are over: the node was considered dead, and its jobs were given to others."""
    drain: bool = False
    """A person asked the node to finish its work and stop."""


@dataclass(frozen=True, slots=True)
class Vanished:
    """A node that should be alive by its last heartbeat, but does not hold its witness."""

    node: NodeId
    witness: int
    beat_at: datetime


@dataclass(frozen=True, slots=True)
class WitnessCheck:
    """Which nodes that have a witness should be alive, and which of them have vanished."""

    expected: int
    vanished: tuple[Vanished, ...] = ()


def roles_of(names: Iterable[Role | str]) -> frozenset[Role]:
    """The roles with these names; raises `ConfigurationError` for an unknown one or for none."""
    try:
        chosen = frozenset(Role(name) for name in names)
    except ValueError as error:
        raise ConfigurationError(f"{error}; roles are {', '.join(Role)}") from None
    if not chosen:
        raise ConfigurationError(f"a node needs at least one role of {', '.join(Role)}")
    return chosen
