"""The protocol for nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from drumbeat.wire.node import DrainingView, NodeView


class FleetNodes(Protocol):
    """Look at the processes of the fleet, and drain them."""

    async def list(self, *, gone: bool = False) -> Sequence[NodeView]:
        """The live nodes by identity; with `gone` also those that are no longer alive."""
        ...

    async def get(self, node_id: str) -> NodeView:
        """The node of an identity; `UnknownNode` if there is none."""
        ...

    async def drain(self, name: str, reason: str = "") -> DrainingView:
        """Ask a node to finish its work and stop; returns the nodes that were asked.

        `name` is an identity, or a label, which means all live nodes of that label. Raises
        `UnknownNode` if no live node has it.
        """
        ...
