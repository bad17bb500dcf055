"""Servers: the coordinator of a memory world, which can lie and can be restarted empty."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from drumbeat.backends.memory.coordinator import MemoryCoordinator, MemoryLeases
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class FickleLeases(MemoryLeases):
    """Leases that can be told to lie, and to forget. Left alone they are the memory leases."""

    def __init__(self, clock: Clock, domain: str) -> None:
        super().__init__(clock, domain)
        self.lying = False
        """While it lies, it appoints whoever asks, and tells everyone that their term goes on."""
        self._lives = 0

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant; one for everybody while it lies."""
        if self.lying:
            with self._lock:
                self._terms.pop(name, None)
        return await super().acquire(name, candidate, ttl)

    async def renew(self, lease: Lease) -> Lease | None:
        """Lengthen this very term, or say so."""
        renewed = await super().renew(lease)
        return lease if renewed is None and self.lying else renewed

    def forget(self) -> None:
        """Lose everything, as a server that is restarted empty, under a new domain."""
        self._lives += 1
        with self._lock:
            self._terms.clear()
            self._tokens = count(1)
            self._domain = f"{self._domain.partition('#')[0]}#{self._lives}"
        self._waiters.wake_all()


class FickleCoordinator(MemoryCoordinator):
    """The memory coordinator, with fickle leases."""

    leases: FickleLeases

    def __init__(self, clock: Clock, domain: str) -> None:
        super().__init__(clock, domain)
        self.leases = FickleLeases(clock, domain)
