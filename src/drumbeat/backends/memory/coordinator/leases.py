"""Leases: the memory coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count
from threading import Lock
from typing import NamedTuple

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.listeners import ANY, Listeners
from drumbeat.forks import renew_in_children
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
        self._listeners = Listeners()
        self._waiter = HintWaiter(self._listeners.add, clock)
        self._tokens = count(1)
        self._begin()
        renew_in_children(self._begin)

    def _begin(self) -> None:
        self._lock = Lock()
        self._terms: dict[str, Term] = {}
        self._turns: dict[str, int] = {}
        """How often each name was acquired or released: numbers the vacancies."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        with self._lock:
            if self._live(name) is not None:
                return None
            lease = Lease(name, candidate, self._domain, next(self._tokens), ttl)
            self._terms[name] = self._term(lease)
            self._turn(name)
        self._listeners.wake()  # those who wait set their alarm by the new term
        return lease

    async def renew(self, lease: Lease) -> Lease | None:
        with self._lock:
            term = self._live(lease.name)
            if term is None or not self._same(term.lease, lease):
                return None
            self._terms[lease.name] = self._term(term.lease)
            return term.lease

    async def release(self, lease: Lease) -> bool:
        return self._end(lease)

    async def evict(self, lease: Lease) -> bool:
        return self._end(lease)

    async def current(self, name: str) -> Lease | None:
        with self._lock:
            term = self._live(name)
            return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, ANY, lambda: self._vacancy(name))

    async def _vacancy(self, name: str) -> tuple[int | None, timedelta | None]:
        """The number of the vacancy; None while the name is held, and for how long."""
        with self._lock:
            term = self._live(name)
            if term is None:
                return self._turns.get(name, 0), None
            return None, until(term.ends_at, self._clock)

    def _end(self, lease: Lease) -> bool:
        with self._lock:
            term = self._live(lease.name)
            if term is None or not self._same(term.lease, lease):
                return False
            del self._terms[lease.name]
            self._turn(lease.name)
        self._listeners.wake()
        return True

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


def until(ends_at: float, clock: Clock) -> timedelta:
    """How long until an instant that has not come; never zero, so that a waiter sleeps."""
    return max(timedelta(seconds=ends_at - clock.elapsed()), timedelta.resolution)
