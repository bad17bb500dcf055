"""Broken coordinators."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from drumbeat.backends.memory.coordinator import MemoryCoordinator, MemoryLeases
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class RenewByHolderOnly(MemoryLeases):
    """Takes "I am somewhere in the row" for "this is my term"."""

    def _same(self, held: Lease, lease: Lease) -> bool:
        return held.holder == lease.holder


class DeadlineFromTheReply(MemoryLeases):
    """Counts the TTL from whenever a renewal arrives, however late that is."""

    async def renew(self, lease: Lease) -> Lease | None:
        term = self._terms.get(lease.name)
        if term is None or not self._same(term.lease, lease):
            return None
        self._terms[lease.name] = self._term(lease)
        return lease


class ReleaseByNameOnly(MemoryLeases):
    """Deletes the key, whoever's it is by now."""

    async def release(self, lease: Lease) -> bool:
        return self._terms.pop(lease.name, None) is not None


class EvictByNameOnly(MemoryLeases):
    """Ends whatever term the name has by now."""

    async def evict(self, lease: Lease) -> bool:
        held = await self.current(lease.name)
        return held is not None and self._end(held)


class EvictByHolderOnly(MemoryLeases):
    """Ends a later term of the same holder too."""

    async def evict(self, lease: Lease) -> bool:
        held = await self.current(lease.name)
        return held is not None and held.holder == lease.holder and self._end(held)


class EvictInSilence(MemoryLeases):
    """Ends the term, and wakes nobody who waits for it."""

    async def evict(self, lease: Lease) -> bool:
        term = self._terms.get(lease.name)
        if term is None or not self._same(term.lease, lease):
            return False
        del self._terms[lease.name]
        return True


class AcquireIsReentrant(MemoryLeases):
    """Grants a name again to the one who holds it, under the old token."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        held = await self.current(name)
        if held is not None and held.holder == candidate:
            return held
        return await super().acquire(name, candidate, ttl)


class TokenPerHolder(MemoryLeases):
    """Hands a fresh row, and so a fresh count, to every new term."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        self._tokens = count(1)
        return await super().acquire(name, candidate, ttl)


def coordinator_with(leases: type[MemoryLeases], clock: Clock) -> MemoryCoordinator:
    """A memory coordinator with other leases."""
    coordinator = MemoryCoordinator(clock, domain="broken")
    coordinator.leases = leases(clock, "broken")
    return coordinator
