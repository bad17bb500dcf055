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


def roles_of(names: Iterable[Role | str]) -> frozenset[Role]:
    """The roles with these names; raises `ConfigurationError` for an unknown one or for none."""
    try:
        chosen = frozenset(Role(name) for name in names)
    except ValueError as error:
        raise ConfigurationError(f"{error}; roles are {', '.join(Role)}") from None
    if not chosen:
        raise ConfigurationError(f"a node needs at least one role of {', '.join(Role)}")
    return chosen
