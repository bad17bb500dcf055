"""DuplicateLabelCheck: warns of another live node with this node's label."""

from __future__ import annotations

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.events import LabelShared
from drumbeat.model.ids import NodeId, label_of
from drumbeat.ports.store import NodeStore


class DuplicateLabelCheck(Service):
    """Looks once per node lifetime: a previous run of this instance has expired by then."""

    name = "duplicate-labels"

    def __init__(
        self, node: NodeId, nodes: NodeStore, lifetime: float, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._node = node
        self._nodes = nodes
        self._lifetime = lifetime
        self._look_at = context.runtime.clock.elapsed() + lifetime
        self._alike: set[NodeId] = set()

    async def once(self) -> float | None:
        """Report each live node that has our label, the first time that it is seen."""
        wait = self._look_at - self._runtime.clock.elapsed()
        if wait > 0:
            return wait
        for record in await self._nodes.list():
            other = record.node.id
            alike = other != self._node and label_of(other) == label_of(self._node)
            if alike and record.alive and other not in self._alike:
                self._alike.add(other)
                self._bus.emit(LabelShared(self._node, other))
        self._look_at = self._runtime.clock.elapsed() + self._lifetime
        return self._lifetime
