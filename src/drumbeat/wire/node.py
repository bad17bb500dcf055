"""A node on the wire."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.model.fleet.node import NodeRecord, Role


class NodeView(Struct, frozen=True, kw_only=True):
    """A node of the fleet."""

    id: str
    label: str
    """The part of its identity that people know."""
    roles: tuple[Role, ...]
    alive: bool
    draining: bool
    drain_requested: bool
    version: str
    slots: int
    """How many jobs it may run at once."""
    busy: int
    queues: tuple[str, ...]
    started_at: datetime
    beat_at: datetime
    expires_at: datetime
    leader: bool = False
    """Whether it leads."""


class DrainingView(Struct, frozen=True, kw_only=True):
    """Which nodes were asked to finish their work and stop."""

    draining: tuple[str, ...]


def node_view(record: NodeRecord, leader: str | None = None) -> NodeView:
    node = record.node
    return NodeView(
        id=node.id,
        label=node.label,
        roles=tuple(sorted(node.roles)),
        alive=record.alive,
        draining=node.draining,
        drain_requested=record.drain_requested,
        version=node.version,
        slots=node.slots,
        busy=node.busy,
        queues=node.queues,
        started_at=node.started_at,
        beat_at=record.beat_at,
        expires_at=record.expires_at,
        leader=node.id == leader,
    )
