"""DuplicateLabelCheck: warns of another live node with this node's label."""

from __future__ import annotations

from drumbeat.engine.plumbing.service import PeriodicCheck, ServiceContext
from drumbeat.model.events import LabelShared
from drumbeat.model.ids import NodeId, label_of
from drumbeat.ports.store import NodeStore


class DuplicateLabelCheck(PeriodicCheck):
    """Looks once per node lifetime: a previous run of this instance has expired by then."""

    name = "duplicate-labels"

    def __init__(
        self, node: NodeId, nodes: NodeStore, lifetime: float, context: ServiceContext
    ) -> None:
        super().__init__(lifetime, context)
        self._node = node
        self._nodes = nodes
        self._alike: set[NodeId] = set()

    async def _look(self) -> None:
        """Report each live node that has our label, the first time that it is seen."""
        for record in await self._nodes.list():
            other = record.node.id
            alike = other != self._node and label_of(other) == label_of(self._node)
            if alike and record.alive and other not in self._alike:
                self._alike.add(other)
                self._bus.emit(LabelShared(self._node, other))
