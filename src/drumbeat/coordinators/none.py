"""No coordinator: every candidate always leads.

This is `coordinator="none"`, or `LEADER_ELECTION_ENABLED=false`: each instance runs everything,
which is right for a single instance and for tasks that every instance is meant to run.

**The danger.** On ten instances with a memory store each, every tick runs ten times. On one shared
store the fence still holds, so no tick fires twice, but the instances depose each other all the
time: each claims an epoch, the others' writes are refused, they claim again. Neither is what one
wants by accident, so the app logs a warning when it starts this way.

Its leases break the contract of `ports.coordinator.Leases` on purpose: a name is never held, so a
candidate is never refused. Registry and configuration know only this process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count

from drumbeat.coordinators.memory import MemoryConfiguration, MemoryRegistry
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.ports.clock import Clock


class EveryoneLeads:
    """Leases that are granted to whoever asks, and that only their release ends."""

    def __init__(self, clock: Clock, domain: str) -> None:
        self._clock = clock
        self._domain = domain
        self._tokens = count(1)
        self._latest: dict[str, Lease] = {}

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term, always."""
        lease = Lease(name, candidate, self._domain, next(self._tokens), ttl)
        self._latest[name] = lease
        return lease

    async def renew(self, lease: Lease) -> Lease | None:
        """The same term, always: nobody can take it away."""
        return lease

    async def release(self, lease: Lease) -> bool:
        """Forget the term, if no other was granted since."""
        if self._latest.get(lease.name) != lease:
            return False
        del self._latest[lease.name]
        return True

    async def current(self, name: str) -> Lease | None:
        """The term that was granted last."""
        return self._latest.get(name)

    async def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint as soon as one is asked for, no more than one a second."""
        del name  # every name is vacant
        while True:
            yield None
            await self._clock.sleep(1.0)


class NoCoordinator:
    """Lets every candidate lead. See the danger above."""

    def __init__(self, clock: Clock, domain: str) -> None:
        self.leases = EveryoneLeads(clock, domain)
        self.registry = MemoryRegistry(clock)
        self.configuration = MemoryConfiguration(clock)

    async def open(self) -> None:
        """Nothing to make ready."""

    async def close(self) -> None:
        """Nothing to let go of."""
