"""`drumbeat node`: the nodes of the fleet."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import REASON, switch
from drumbeat.cli.output.tables import facts, table
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.fleet.node import Role
from drumbeat.rules.human_time import Moments
from drumbeat.wire.node import NodeMetricsView, NodeView


@click.group("node", cls=Group)
def command() -> None:
    """List and drain the nodes of the fleet.

    Example:
      drumbeat node list
    """


@command.verb("list", switch("--all also_gone", "Also nodes that are gone."), uses="nodes.list")
def list_nodes(session: Session, *, also_gone: bool) -> None:
    """List the nodes that are alive.

    Example:
      drumbeat node list --all
    """
    nodes = session.ask(lambda fleet: fleet.nodes.list(gone=True))
    shown = [node for node in nodes if node.alive or also_gone]
    session.output.show(shown, _nodes(session.output.moments, shown))
    gone = len(nodes) - len(shown)
    if gone:
        session.output.say(
            "1 more is gone; --all lists it."
            if gone == 1
            else f"{gone} more are gone; --all lists them."
        )


@command.verb("show", click.argument("node_id", metavar="NODE"), uses="nodes.get")
def show(session: Session, node_id: str) -> None:
    """Show one node. NODE is its identity.

    Example:
      drumbeat node show web-1:0f3a
    """
    node = session.ask(lambda fleet: fleet.nodes.get(node_id))
    session.output.show(node, _node(session.output.moments, node))


@command.verb(
    "drain",
    click.argument("names", nargs=-1, required=True, metavar="NODE..."),
    REASON,
    uses="nodes.drain",
)
def drain(session: Session, names: Sequence[str]) -> None:
    """Ask nodes to finish their work and stop.

    NODE is an identity or a label; a label means all nodes that have it. A node reads the request
    at its next heartbeat.

    Example:
      drumbeat node drain web-1
    """

    async def ask(fleet: Fleet) -> list[str]:
        _check_names(names, await fleet.nodes.list())
        draining = [await fleet.nodes.drain(name, session.reason) for name in names]
        return [node for each in draining for node in each.draining]

    nodes = session.ask(ask)
    lines = "\n".join(f"{node} was asked to drain" for node in nodes)
    session.output.show({"draining": nodes}, lines)


def _check_names(names: Sequence[str], alive: Sequence[NodeView]) -> None:
    """Refuse unknown names before any node is drained."""
    for name in names:
        if not any(name in (node.id, node.label) for node in alive):
            known = ", ".join(node.id for node in alive) or "none"
            raise Problem(f"no live node is named {name!r}; alive: {known}", Exit.NOT_FOUND)


def _nodes(moments: Moments, nodes: Sequence[NodeView]) -> RenderableType:
    rows = (
        (
            node.id,
            _state(node),
            _roles(node),
            f"{node.busy}/{node.slots}" if node.slots else None,
            _done(node),
            node.metrics.fired if node.metrics and Role.SCHEDULER in node.roles else None,
            moments.distance(node.beat_at),
            ", ".join(node.queues),
            ", ".join(node.addresses),
        )
        for node in nodes
    )
    titles = ("node", "state", "roles", "?>busy", "?>done", "?>ticks", ">beat", "?queues", "?http")
    return table(titles, rows, "No node is alive.")


def _node(moments: Moments, node: NodeView) -> RenderableType:
    return facts(
        (
            ("node", node.id),
            ("state", _state(node)),
            ("roles", _roles(node)),
            ("busy", f"{node.busy} of {node.slots}"),
            ("queues", ", ".join(node.queues) or None),
            ("version", node.version),
            ("started", moments.stamped(node.started_at)),
            ("last heartbeat", moments.stamped(node.beat_at)),
            ("at the coordinator", _registered(node)),
            ("HTTP", ", ".join(node.addresses) or None),
            *_metrics(moments, node.metrics),
        )
    )


def _metrics(
    moments: Moments, metrics: NodeMetricsView | None
) -> Sequence[tuple[str, object | None]]:
    if metrics is None:
        return ()
    return (
        ("jobs claimed", metrics.claimed),
        ("jobs completed", metrics.completed),
        ("jobs failed", metrics.failed),
        ("last claim", moments.stamped(metrics.last_claim_at)),
        ("ticks fired", metrics.fired),
    )


def _done(node: NodeView) -> int | None:
    """How many jobs it brought to an end; None for a node that is no worker."""
    if node.metrics is None or Role.WORKER not in node.roles:
        return None
    return node.metrics.completed + node.metrics.failed


def _registered(node: NodeView) -> str:
    if node.registered is None:
        return "unknown, since it does not answer"
    return "listed" if node.registered else "not listed"


def _roles(node: NodeView) -> str:
    return ("leader, " if node.leader else "") + ", ".join(sorted(node.roles))


def _state(node: NodeView) -> str:
    if not node.alive:
        return "dead"
    return "draining" if node.draining or node.drain_requested else "alive"
