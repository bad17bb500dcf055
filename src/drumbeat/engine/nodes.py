"""Nodes at run time: list them, and ask them to stop."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import ListedNode, Node
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.store import NodeStore
from drumbeat.rules.listed_nodes import list_nodes

PATIENCE = 1.0
"""Seconds that the coordinator has to list the nodes. The list is complete enough without it."""


class Nodes:
    """The nodes of the fleet, by their heartbeats at the store and their entries in the registry.

    Workers and schedulers send both as long as they live.
    """

    def __init__(self, store: NodeStore, coordinator: Coordinator, clock: Clock) -> None:
        self._store = store
        self._coordinator = coordinator
        self._clock = clock

    async def list(self) -> Sequence[ListedNode]:
        """All nodes by identity, also those that are gone and not yet forgotten.

        A coordinator that does not answer delays it by a second at most; then no node says whether
        it is registered.
        """
        return list_nodes(await self._store.list(), await self._registered())

    async def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        return await self._store.request_drain(nodes)

    async def _registered(self) -> Sequence[Node] | None:
        try:
            async with timeout_after(self._clock, PATIENCE):
                await self._coordinator.open()
                return await self._coordinator.registry.nodes()
        except (Unavailable, TimeoutError):
            return None
