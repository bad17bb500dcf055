"""Routes for nodes."""

from __future__ import annotations

from msgspec import Struct

from drumbeat.api.http.route import AnyRoute, change_route, read_route
from drumbeat.wire.node import DrainingView, NodeView


class NodeQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which nodes are wanted."""

    all: bool = False
    """Also those that are gone."""


ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/nodes",
        "List live nodes",
        list[NodeView],
        lambda call: call.fleet.nodes.list(gone=call.query.all),
        query=NodeQuery,
    ),
    read_route(
        "/nodes/{id}", "Show a node", NodeView, lambda call: call.fleet.nodes.get(call.path["id"])
    ),
    change_route(
        "/nodes/{id}/drain",
        "Ask a node to finish its work and stop",
        DrainingView,
        lambda call: call.fleet.nodes.drain(call.path["id"], call.body.reason),
        status=202,
    ),
)
