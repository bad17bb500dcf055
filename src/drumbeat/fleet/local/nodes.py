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
        self._nodes = services.store.nodes
        self._leadership = services.leadership
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
            if not named:
                raise UnknownNode(name)
            return DrainingView(draining=tuple(await self._nodes.request_drain(named)))

    async def _all(self) -> Sequence[NodeView]:
        lease = await self._leadership.leader()
        leader = None if lease is None else lease.holder
        return [node_view(record, leader) for record in await self._nodes.list()]
