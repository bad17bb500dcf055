"""Registry: the memory coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from threading import Lock

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.listeners import ANY, Listeners
from drumbeat.backends.memory.coordinator.leases import until
from drumbeat.forks import renew_in_children
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class MemoryRegistry:
    """Nodes, each until its time runs out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listeners = Listeners()
        self._waiter = HintWaiter(self._listeners.add, clock)
        self._changes = 0
        self._begin()
        renew_in_children(self._begin)

    def _begin(self) -> None:
        self._lock = Lock()
        self._nodes: dict[NodeId, tuple[Node, float]] = {}

    async def register(self, node: Node, ttl: timedelta) -> None:
        with self._lock:
            known = self._nodes.get(node.id)
            self._nodes[node.id] = (node, self._clock.elapsed() + ttl.total_seconds())
            if known is not None and known[0] == node:
                return
            self._changes += 1
        self._listeners.wake()

    async def deregister(self, node: NodeId) -> None:
        with self._lock:
            if self._nodes.pop(node, None) is None:
                return
            self._changes += 1
        self._listeners.wake()

    async def nodes(self) -> Sequence[Node]:
        with self._lock:
            self._expire()
            return [node for _, (node, _) in sorted(self._nodes.items(), key=lambda item: item[0])]

    def changes(self) -> AsyncIterator[None]:
        """A hint after each change, also when a node's time runs out."""
        with self._lock:
            self._expire()
            return ChangeHints(self._waiter, ANY, self._last_change, self._changes)

    async def _last_change(self) -> tuple[int, timedelta | None]:
        """The number of the last change, and how long until the first node's time runs out."""
        with self._lock:
            self._expire()
            ends = [ends_at for _, ends_at in self._nodes.values()]
            return self._changes, until(min(ends), self._clock) if ends else None

    def _expire(self) -> None:
        now = self._clock.elapsed()
        over = [node for node, (_, ends_at) in self._nodes.items() if ends_at <= now]
        for node in over:
            del self._nodes[node]
        self._changes += len(over)
