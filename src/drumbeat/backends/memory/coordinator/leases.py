"""Leases: the memory coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count
from threading import Lock
from typing import NamedTuple

from drumbeat.backends.memory.coordinator.waiters import Waiters
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class Term(NamedTuple):
    """A lease, and when it runs out on the coordinator's clock."""

    lease: Lease
    ends_at: float


class MemoryLeases:
    """One term at a time for each name."""

    def __init__(self, clock: Clock, domain: str) -> None:
        self._clock = clock
        self._domain = domain
        self._lock = Lock()
        self._waiters = Waiters(clock)
        self._tokens = count(1)
        self._terms: dict[str, Term] = {}
        self._turns: dict[str, int] = {}
        """How often each name was acquired or released: tells one vacancy from the next."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        with self._lock:
            if self._live(name) is not None:
                return None
            lease = Lease(name, candidate, self._domain, next(self._tokens), ttl)
            self._terms[name] = self._term(lease)
            self._turn(name)
        self._waiters.wake_all()  # those who wait set their alarm by the new term
        return lease

    async def renew(self, lease: Lease) -> Lease | None:
        with self._lock:
            term = self._live(lease.name)
            if term is None or not self._same(term.lease, lease):
                return None
            self._terms[lease.name] = self._term(term.lease)
            return term.lease

    async def release(self, lease: Lease) -> bool:
        with self._lock:
            term = self._live(lease.name)
            if term is None or not self._same(term.lease, lease):
                return False
            del self._terms[lease.name]
            self._turn(lease.name)
        self._waiters.wake_all()
        return True

    async def current(self, name: str) -> Lease | None:
        with self._lock:
            term = self._live(name)
            return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint for each time that the name is found vacant, at once if it is so now."""
        return _Vacancies(self, self._waiters, name)

    def vacancy(self, name: str) -> int | None:
        """The number of the vacancy that the name has now; None: somebody holds it."""
        with self._lock:
            return None if self._live(name) else self._turns.get(name, 0)

    def seconds_left(self, name: str) -> float | None:
        """How long the present term lives if nobody renews it; None: there is none."""
        with self._lock:
            term = self._live(name)
            return None if term is None else term.ends_at - self._clock.elapsed()

    def _live(self, name: str) -> Term | None:
        term = self._terms.get(name)
        return term if term is not None and self._clock.elapsed() < term.ends_at else None

    def _same(self, held: Lease, lease: Lease) -> bool:
        """Whether both are one term. A later one of the same holder has another token."""
        return (held.holder, held.domain, held.token) == (lease.holder, lease.domain, lease.token)

    def _term(self, lease: Lease) -> Term:
        return Term(lease, self._clock.elapsed() + lease.ttl.total_seconds())

    def _turn(self, name: str) -> None:
        self._turns[name] = self._turns.get(name, 0) + 1


class _Vacancies:
    """Waits only while it is asked, and so leaves nothing behind when nobody asks any more."""

    def __init__(self, leases: MemoryLeases, waiters: Waiters, name: str) -> None:
        self._leases = leases
        self._waiters = waiters
        self._name = name
        self._told: int | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._waiters.wait_for(
            self._untold, lambda: self._leases.seconds_left(self._name)
        )

    def _untold(self) -> int | None:
        vacancy = self._leases.vacancy(self._name)
        return None if vacancy == self._told else vacancy
