"""The coordinator: the parts of the memory coordinator together."""

from __future__ import annotations

from drumbeat.backends.memory.coordinator.configuration import MemoryConfiguration
from drumbeat.backends.memory.coordinator.leases import MemoryLeases
from drumbeat.backends.memory.coordinator.registry import MemoryRegistry
from drumbeat.ports.clock import Clock


class MemoryCoordinator:
    """Appoints among the nodes of one process, from any of its threads.

    The domain must be new for each one that is made.
    """

    def __init__(self, clock: Clock, domain: str) -> None:
        self.leases = MemoryLeases(clock, domain)
        self.registry = MemoryRegistry(clock)
        self.configuration = MemoryConfiguration(clock)

    async def open(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """Do nothing: leases end by themselves."""
