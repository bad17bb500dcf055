"""The coordinator of a memory world, which can lie and can be restarted empty."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from drumbeat.backends.memory.coordinator import MemoryCoordinator, MemoryLeases
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class FaultyLeases(MemoryLeases):
    """The memory leases, with switches to lie and to forget."""

    def __init__(self, clock: Clock, domain: str) -> None:
        super().__init__(clock, domain)
        self.lying = False
        """While True, every candidate is appointed, and every renewal succeeds."""
        self._lives = 0

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if self.lying:
            with self._lock:
                self._terms.pop(name, None)
        return await super().acquire(name, candidate, ttl)

    async def renew(self, lease: Lease) -> Lease | None:
        renewed = await super().renew(lease)
        return lease if renewed is None and self.lying else renewed

    def forget(self) -> None:
        """Lose everything and take a new domain, as a server that is restarted empty."""
        self._lives += 1
        with self._lock:
            self._terms.clear()
            self._tokens = count(1)
            self._domain = f"{self._domain.partition('#')[0]}#{self._lives}"
        self._listeners.wake()


class FaultyCoordinator(MemoryCoordinator):
    """The memory coordinator with faulty leases."""

    leases: FaultyLeases

    def __init__(self, clock: Clock, domain: str) -> None:
        super().__init__(clock, domain)
        self.leases = FaultyLeases(clock, domain)
