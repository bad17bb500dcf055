"""Nodes of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import UnknownNode
from drumbeat.model.ids import NodeId
from drumbeat.wire.node import DrainingView, NodeView, node_view


class LocalNodes:
    """Implements `FleetNodes`."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._nodes = services.nodes
        self._reachability = services.reachability
        self._trail = trail

    async def list(self, *, gone: bool = False) -> Sequence[NodeView]:
        return [view for view in await self._all() if view.alive or gone]

    async def get(self, node_id: str) -> NodeView:
        for view in await self._all():
            if view.id == node_id:
                return view
        raise UnknownNode(node_id)

    async def drain(self, name: str, reason: str = "") -> DrainingView:
        async with self._trail.change("node.drain", name, reason):
            named = [
                NodeId(view.id)
                for view in await self._all()
                if view.alive and name in (view.id, view.label)
            ]
            draining = await self._nodes.drain(named)
            if not draining:  # or none of them shares the store, which carries the request
                raise UnknownNode(name)
            return DrainingView(draining=tuple(draining))

    async def _all(self) -> Sequence[NodeView]:
        leader = await self._reachability.known_leader()
        return [node_view(listed, leader) for listed in await self._nodes.list()]
