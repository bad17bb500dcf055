"""Nodes: the operating-system processes of the fleet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from drumbeat.model.errors import ConfigurationError
from drumbeat.model.ids import NodeId, label_of
from drumbeat.model.job import Hold, Progress


class Role(StrEnum):
    """What a node does."""

    SCHEDULER = "scheduler"
    WORKER = "worker"
    API = "api"


ALL_ROLES = frozenset(Role)


@dataclass(frozen=True, slots=True)
class Node:
    """What a node says of itself with each heartbeat."""

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
        """The part of its identity that people know."""
        return label_of(self.id)


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node as the store has it; `alive` by the store's clock."""

    node: Node
    beat_at: datetime
    expires_at: datetime
    alive: bool
    drain_requested: bool


@dataclass(frozen=True, slots=True)
class Beat:
    """One heartbeat: the node is alive for another while, and this is what it holds."""

    node: Node
    lifetime: float
    """Seconds after which the store may take the node for dead."""
    holds: tuple[Hold, ...] = ()
    progress: tuple[tuple[Hold, Progress], ...] = ()


@dataclass(frozen=True, slots=True)
class Pulse:
    """The store's answer to a heartbeat."""

    as_of: datetime
    cancelled: tuple[Hold, ...] = ()
    """Held attempts whose job is to be cancelled."""
    lost: tuple[Hold, ...] = ()
    """Holds that are over: the node was taken for dead, and someone else has the job."""
    drain: bool = False
    """A person asked the node to finish its work and stop."""


def roles_of(names: Iterable[Role | str]) -> frozenset[Role]:
    """The roles of these names; `ConfigurationError` for an unknown one, or for none at all."""
    try:
        chosen = frozenset(Role(name) for name in names)
    except ValueError as error:
        raise ConfigurationError(f"{error}; roles are {', '.join(Role)}") from None
    if not chosen:
        raise ConfigurationError(f"a node needs at least one role of {', '.join(Role)}")
    return chosen
