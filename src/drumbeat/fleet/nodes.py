"""The protocol for nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.wire.node import DrainingView, NodeView
from drumbeat.wire.queries import NodeQuery


class FleetNodes(Protocol):
    """Look at the processes of the fleet, and drain them."""

    @endpoint("GET /nodes", "List live nodes", query=NodeQuery)
    async def list(self, *, gone: bool = False) -> Sequence[NodeView]:
        """The live nodes by identity; with `gone` also those that are no longer alive."""
        ...

    @endpoint("GET /nodes/{id}", "Show a node")
    async def get(self, node_id: str) -> NodeView:
        """The node of an identity; `UnknownNode` if there is none."""
        ...

    @endpoint("POST /nodes/{id}/drain", "Ask a node to finish its work and stop", status=202)
    async def drain(self, name: str, reason: str = "") -> DrainingView:
        """Ask a node to finish its work and stop; returns the nodes that were asked.

        `name` is an identity, or a label, which means all live nodes of that label. Raises
        `UnknownNode` if no live node has it.
        """
        ...
