"""No election: every candidate always leads.

This is `coordinator="none"`, or `LEADER_ELECTION_ENABLED=false`. It only decides who fires ticks:
locks, the list of nodes and configuration stay with the coordinator of the app, or with its store,
so all nodes share them. They are local only with a memory store without a coordinator.

**The danger.** On ten instances with a memory store each, every tick runs ten times. On one shared
store the fence still holds, so no tick fires twice, but the instances depose each other all the
time: each claims an epoch, the others' writes are refused, they claim again. So the app logs a
warning when it starts this way.

The scheduler's leases break the contract of `ports.coordinator.Leases` on purpose: the name is
never held, so a candidate is never refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count

from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator, Leases


class EveryoneLeads:
    """Leases that every node is granted, and that end only when released."""

    def __init__(self, clock: Clock, domain: str) -> None:
        self._clock = clock
        self._domain = domain
        self._tokens = count(1)
        self._latest: dict[str, Lease] = {}

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
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

    async def evict(self, lease: Lease) -> bool:
        """Nothing: everybody leads, so nobody waits for the end of another's term."""
        del lease
        return False

    async def current(self, name: str) -> Lease | None:
        return self._latest.get(name)

    async def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint as soon as one is asked for, no more than one a second."""
        del name  # every name is vacant
        while True:
            yield None
            await self._clock.sleep(1.0)


class UncontestedLeases:
    """Grants the scheduler's term to every node; the coordinator grants all others."""

    def __init__(self, everyone: EveryoneLeads, others: Leases) -> None:
        self._everyone = everyone
        self._others = others

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        return await self._of(name).acquire(name, candidate, ttl)

    async def renew(self, lease: Lease) -> Lease | None:
        return await self._of(lease.name).renew(lease)

    async def release(self, lease: Lease) -> bool:
        return await self._of(lease.name).release(lease)

    async def evict(self, lease: Lease) -> bool:
        return await self._of(lease.name).evict(lease)

    async def current(self, name: str) -> Lease | None:
        return await self._of(name).current(name)

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return self._of(name).vacancies(name)

    def _of(self, name: str) -> Leases:
        return self._everyone if name == SCHEDULER else self._others


class NoElection:
    """Lets every candidate lead, and leaves all else to another coordinator."""

    def __init__(self, everyone: EveryoneLeads, others: Coordinator) -> None:
        self.leases = UncontestedLeases(everyone, others.leases)
        self.registry = others.registry
        self.configuration = others.configuration
        self.open = others.open

    async def close(self) -> None:
        """Does nothing: the owner of the other coordinator closes it."""
