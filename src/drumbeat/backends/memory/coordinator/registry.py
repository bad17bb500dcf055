"""Registry: the memory coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from threading import Lock

from drumbeat.backends.memory.coordinator.waiters import Waiters
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class MemoryRegistry:
    """Nodes, each until its time runs out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._waiters = Waiters(clock)
        self._nodes: dict[NodeId, tuple[Node, float]] = {}
        self._changes = 0

    async def register(self, node: Node, ttl: timedelta) -> None:
        with self._lock:
            known = self._nodes.get(node.id)
            self._nodes[node.id] = (node, self._clock.elapsed() + ttl.total_seconds())
            if known is not None and known[0] == node:
                return
            self._changes += 1
        self._waiters.wake_all()

    async def deregister(self, node: NodeId) -> None:
        with self._lock:
            if self._nodes.pop(node, None) is None:
                return
            self._changes += 1
        self._waiters.wake_all()

    async def nodes(self) -> Sequence[Node]:
        with self._lock:
            self._expire()
            return [node for _, (node, _) in sorted(self._nodes.items(), key=lambda item: item[0])]

    def changes(self) -> AsyncIterator[None]:
        """A hint after each change, also when a node's time runs out."""
        return _Changes(self, self._waiters)

    def change(self) -> int:
        """The number of the last change."""
        with self._lock:
            self._expire()
            return self._changes

    def seconds_left(self) -> float | None:
        """How long until the first node's time runs out; None: there is none."""
        with self._lock:
            ends = [ends_at for _, ends_at in self._nodes.values()]
            return max(0.0, min(ends) - self._clock.elapsed()) if ends else None

    def _expire(self) -> None:
        now = self._clock.elapsed()
        over = [node for node, (_, ends_at) in self._nodes.items() if ends_at <= now]
        for node in over:
            del self._nodes[node]
        self._changes += len(over)


class _Changes:
    """Starts at the list as it is now."""

    def __init__(self, registry: MemoryRegistry, waiters: Waiters) -> None:
        self._registry = registry
        self._waiters = waiters
        self._told = registry.change()

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._waiters.wait_for(self._untold, self._registry.seconds_left)

    def _untold(self) -> int | None:
        change = self._registry.change()
        return None if change == self._told else change
