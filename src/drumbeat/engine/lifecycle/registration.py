"""Registration: lists a node at the coordinator for as long as it lives.

So any member of the fleet finds the others, with their roles, their addresses and what they have
done, also where no store is shared. The entry is for display and for discovery: the store alone
decides whether a node is alive, and whose jobs go to others.

The entry has the lifetime of a node. It ends with a node that dies, and comes back by itself after
the coordinator has lost it. See ADR 0039.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.working.node_state import HeartbeatTimings
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId
from drumbeat.model.part import Part
from drumbeat.ports.coordinator import Coordinator

LEAVE_TIMEOUT = 1.0
"""Seconds that the coordinator has to take the entry of a node that stops off its list."""


class Registration(Service):
    """Renews the node's entry as often as its heartbeat."""

    name = "registration"
    backend = Part.COORDINATOR

    def __init__(
        self,
        coordinator: Coordinator,
        describe: Callable[[], Node],
        timings: HeartbeatTimings,
        context: ServiceContext,
    ) -> None:
        super().__init__(context)
        self._coordinator = coordinator
        self._describe = describe
        self._timings = timings

    async def once(self) -> float | None:
        """Write the entry.

        An outage of the coordinator is reported by the services that need it to lead or to lock.
        """
        with suppress(Unavailable, TimeoutError):
            async with timeout_after(self._runtime.clock, self._timings.every):
                await self._coordinator.open()  # the node may have started while it was away
                await self._coordinator.registry.register(
                    self._describe(), timedelta(seconds=self._timings.lifetime)
                )
        return self._timings.every

    async def leave(self, node: NodeId) -> None:
        """Take the entry off the list; it would end by itself a little later."""
        with suppress(Unavailable, TimeoutError):
            async with timeout_after(self._runtime.clock, LEAVE_TIMEOUT):
                await self._coordinator.registry.deregister(node)
