"""`drumbeat node`: the nodes of the fleet."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.asked import Asked
from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.reasons import reasoned
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import node_shape
from drumbeat.cli.tables import note, table
from drumbeat.model.ids import NodeId
from drumbeat.model.node import NodeRecord
from drumbeat.rules.moments import Moments


@click.group("node", cls=Group)
def command() -> None:
    """List the nodes of the fleet, and drain them.

    \b
    Example:
      drumbeat node list
    """


@command.command("list")
@click.option("--all", "also_dead", is_flag=True, help="Also those that are gone.")
@click.pass_obj
def list_nodes(session: Session, *, also_dead: bool) -> None:
    """List the nodes that are alive.

    \b
    Example:
      drumbeat node list --all
    """

    async def ask(app: Asked) -> tuple[Sequence[NodeRecord], NodeId | None]:
        lease = await app.leadership.leader()
        return await app.nodes(), lease.holder if lease else None

    nodes, leader = session.ask(ask)
    shown = [record for record in nodes if record.alive or also_dead]
    data = [{**node_shape(record), "leader": record.node.id == leader} for record in shown]
    session.output.show(data, lambda: _nodes(session, shown, leader))
    if len(shown) < len(nodes):
        gone = len(nodes) - len(shown)
        session.output.say(
            "1 more is gone; --all lists it."
            if gone == 1
            else f"{gone} more are gone; --all lists them."
        )


@command.command()
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@reasoned
@click.pass_obj
def drain(session: Session, nodes: Sequence[str]) -> None:
    """Ask nodes to finish their work and stop.

    NODE is an identity or a label; a label that several nodes share means all of them. The node
    hears of it with its next heartbeat.

    \b
    Example:
      drumbeat node drain web-1
    """

    async def ask(app: Asked) -> Sequence[NodeId]:
        return await app.drain(_named(nodes, await app.nodes()))

    asked = session.ask(ask)
    session.output.show(
        {"draining": list(asked)}, lambda: "\n".join(f"{node} was asked to drain" for node in asked)
    )


def _named(names: Sequence[str], records: Sequence[NodeRecord]) -> list[NodeId]:
    alive = [record.node for record in records if record.alive]
    chosen: list[NodeId] = []
    for name in names:
        found = [node.id for node in alive if name in (node.id, node.label)]
        if not found:
            known = ", ".join(node.id for node in alive) or "none"
            raise Problem(f"no live node is named {name!r}; alive: {known}", Exit.NOT_FOUND)
        chosen += found
    return chosen


def _nodes(
    session: Session, records: Sequence[NodeRecord], leader: NodeId | None
) -> RenderableType:
    if not records:
        return note("No node is alive.")
    moments = Moments(session.output.now, session.output.zone)
    rows = (
        (
            record.node.id,
            _state(record),
            ("leader, " if record.node.id == leader else "") + ", ".join(sorted(record.node.roles)),
            f"{record.node.busy}/{record.node.slots}" if record.node.slots else None,
            moments.distance(record.beat_at),
            ", ".join(record.node.queues),
        )
        for record in records
    )
    return table(("node", "state", "roles", "?>busy", ">beat", "?queues"), rows)


def _state(record: NodeRecord) -> str:
    if not record.alive:
        return "dead"
    return "draining" if record.node.draining or record.drain_requested else "alive"
