"""The nodes of a remote fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.remote.resource import RemoteResource
from drumbeat.wire.node import DrainingView, NodeView


class RemoteNodes(RemoteResource):
    """Implements `FleetNodes`."""

    async def list(self, *, gone: bool = False) -> Sequence[NodeView]:
        """The live nodes by identity; with `gone` also those that are no longer alive."""
        return await self._get(list[NodeView], "nodes", query=[("all", "true")] if gone else ())

    async def get(self, node_id: str) -> NodeView:
        """The node of an identity; `UnknownNode` if there is none."""
        return await self._get(NodeView, "nodes", node_id)

    async def drain(self, name: str, reason: str = "") -> DrainingView:
        """Ask a node, or all live nodes of a label, to finish their work and stop.

        Returns the nodes that were asked; `UnknownNode` if no live node has the name.
        """
        return await self._post(DrainingView, "nodes", name, "drain", body={"reason": reason})
