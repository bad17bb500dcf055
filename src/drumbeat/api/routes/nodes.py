"""Nodes: the processes of the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from drumbeat.api.call import Call, Nothing
from drumbeat.api.desk import Desk
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.model.ids import NodeId
from drumbeat.model.token import Scope
from drumbeat.wire.changes import ReasonView
from drumbeat.wire.node import DrainingView, NodeView, node_view


class NodeQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which nodes are wanted."""

    all: bool = False
    """Also those that are gone."""


async def list_nodes(call: Call[NodeQuery, Any]) -> list[NodeView]:
    """The nodes by identity."""
    return [view for view in await _nodes(call.desk) if view.alive or call.query.all]


async def show(call: Call[Nothing, Any]) -> NodeView:
    """The node."""
    name = call.path["id"]
    for view in await _nodes(call.desk):
        if view.id == name:
            return view
    raise _unknown(name)


async def drain(call: Call[Nothing, ReasonView]) -> DrainingView:
    """Who was asked: the node of that identity, or all live ones of that label."""
    name = call.path["id"]
    views = await _nodes(call.desk)
    named = [NodeId(view.id) for view in views if view.alive and name in (view.id, view.label)]
    if not named:
        raise _unknown(name)
    asked = await call.desk.store.nodes.request_drain(named)
    return DrainingView(draining=tuple(asked))


async def _nodes(desk: Desk) -> Sequence[NodeView]:
    lease = await desk.standing.leader()
    leader = None if lease is None else lease.holder
    return [node_view(record, leader) for record in await desk.store.nodes.list()]


def _unknown(name: str) -> Problem:
    return Problem(404, "unknown-node", f"no live node is named {name!r}; GET /nodes lists them")


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/nodes",
        Scope.VIEWER,
        list_nodes,
        "List the nodes that are alive",
        list[NodeView],
        query=NodeQuery,
    ),
    Route("GET", "/nodes/{id}", Scope.VIEWER, show, "Show a node", NodeView, refuses=(404,)),
    Route(
        "POST",
        "/nodes/{id}/drain",
        Scope.OPERATOR,
        drain,
        "Ask a node to finish its work and stop",
        DrainingView,
        status=202,
        refuses=(404,),
        body=ReasonView,
        change="node.drain",
    ),
)
