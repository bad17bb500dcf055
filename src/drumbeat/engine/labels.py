"""Labels: notices another live node with this node's label. It works, and confuses people."""

from __future__ import annotations

from drumbeat.engine.bus import Bus
from drumbeat.engine.service import Service
from drumbeat.model.events import LabelShared
from drumbeat.model.ids import NodeId, label_of
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import NodeStore


class Labels(Service):
    """Looks once in a node's lifetime: an earlier life of this very instance is gone by then."""

    name = "labels"

    def __init__(
        self, node: NodeId, nodes: NodeStore, lifetime: float, runtime: Runtime, bus: Bus
    ) -> None:
        super().__init__(runtime, bus)
        self._node = node
        self._nodes = nodes
        self._lifetime = lifetime
        self._look_at = runtime.clock.elapsed() + lifetime
        self._alike: set[NodeId] = set()

    async def once(self) -> float | None:
        """Tell of each live node that has our label, the first time that it is seen."""
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
