"""A node on the wire."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.model.fleet.node import ListedNode, NodeMetrics, Role


class NodeMetricsView(Struct, frozen=True, kw_only=True):
    """What a node has done since its start, as it last reported it."""

    claimed: int
    """Jobs that it has claimed, each as often as it has."""
    completed: int
    """Jobs that were completed by an attempt of this node."""
    failed: int
    """Jobs that failed with an attempt of this node."""
    fired: int
    """Ticks that it has fired as the leader."""
    last_claim_at: datetime | None
    """When it last claimed a job; null: never."""


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
    beat_at: datetime | None
    """Its last heartbeat; null: only the coordinator lists it, since it has a store of its own."""
    expires_at: datetime | None
    leader: bool = False
    """Whether it leads."""
    registered: bool | None = None
    """Whether the coordinator lists it; null: the coordinator does not answer."""
    addresses: tuple[str, ...] = ()
    """Where it serves HTTP, as `host:port`."""
    metrics: NodeMetricsView | None = None
    """What it has done; null: the server does not tell."""


class DrainingView(Struct, frozen=True, kw_only=True):
    """Which nodes were asked to finish their work and stop."""

    draining: tuple[str, ...]


def node_view(listed: ListedNode, leader: str | None = None) -> NodeView:
    node = listed.node
    return NodeView(
        id=node.id,
        label=node.label,
        roles=tuple(sorted(node.roles)),
        alive=listed.alive,
        draining=node.draining,
        drain_requested=listed.drain_requested,
        version=node.version,
        slots=node.slots,
        busy=node.busy,
        queues=node.queues,
        started_at=node.started_at,
        beat_at=listed.beat_at,
        expires_at=listed.expires_at,
        leader=node.id == leader,
        registered=listed.registered,
        addresses=node.addresses,
        metrics=_metrics_view(node.metrics),
    )


def _metrics_view(metrics: NodeMetrics) -> NodeMetricsView:
    return NodeMetricsView(
        claimed=metrics.claimed,
        completed=metrics.completed,
        failed=metrics.failed,
        fired=metrics.fired,
        last_claim_at=metrics.last_claim_at,
    )
