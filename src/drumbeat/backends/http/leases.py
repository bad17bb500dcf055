"""HttpLeases: the terms of elections and locks, as etcd and Consul have them in common.

The domain of the server is a random value under a key of its own. The first client writes it, and
nobody changes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Generic

from drumbeat.backends.http.bonds import Bond, Bonds, drop
from drumbeat.backends.http.hints import Changes, Hints, Read, is_vacant
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.backends.http.terms import NameState, Term, decode_term, encode_term
from drumbeat.backends.settling import Settling
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.runtime import Runtime

DOMAIN_BITS = 128


class HttpLeases(ABC, Generic[Bond]):
    """One term at a time for each name: a key that is bound to a bond of its own."""

    def __init__(self, bonds: Bonds[Bond], keyspace: Keyspace, runtime: Runtime) -> None:
        self._bonds = bonds
        self._keyspace = keyspace
        self._clock = runtime.clock
        self._random = runtime.random
        self._settling = Settling(runtime.clock)
        self._acquired: dict[str, Term[Bond]] = {}
        """The last terms of this process, by name, so that a renewal need not read them."""

    async def make_domain(self) -> None:
        """Write the key of the domain if it does not exist. Repeating it does no harm."""
        domain = await self._create_domain(f"{self._random.getrandbits(DOMAIN_BITS):032x}".encode())
        if domain is not None:
            self._settling.see(domain)

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        while (state := await self._read(name)) is None:
            await self.make_domain()  # the server has lost its data since we opened it
        if not self._settling.is_over(state.domain, ttl) or state.held is not None:
            return None  # followers ask often, and a read is cheaper than an unused bond
        bond = await self._bonds.make_bond(ttl)
        term = await self.claim(name, encode_term(candidate, ttl), bond)
        if term is None or not self._settling.is_over(term.lease.domain, ttl):
            await drop(self._bonds, bond)
            return None
        self._acquired[name] = term
        return term.lease

    async def claim(self, name: str, value: bytes, bond: Bond) -> Term[Bond] | None:
        """Acquire the term if the name is vacant. Repeating it does no harm."""
        while (state := await self._claim(name, value, bond)) is None:
            await self.make_domain()  # as above
        term = decode_term(name, state)
        # A first try whose answer was lost would have bound the key to our bond.
        return None if term is None or term.bond != bond else term

    async def renew(self, lease: Lease) -> Lease | None:
        term = self._acquired.get(lease.name)
        if term is None or not term.continues(lease):
            term = await self._held(lease.name)
        if term is None or not term.continues(lease):
            return None
        renewed = await self._renew(term)
        if renewed is None:
            self._forget(lease)
            return None
        self._acquired[lease.name] = renewed
        return lease

    async def release(self, lease: Lease) -> bool:
        term = await self._held(lease.name)
        self._forget(lease)
        if term is None or not term.continues(lease):
            return False
        deleted = await self._delete(lease)
        await drop(self._bonds, term.bond)
        return deleted

    async def evict(self, lease: Lease) -> bool:
        return await self.release(lease)  # which compares the term, no matter who asks

    async def current(self, name: str) -> Lease | None:
        term = await self._held(name)
        return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return Hints(Changes(self._clock, self._vacancy(name), is_vacant))

    async def _held(self, name: str) -> Term[Bond] | None:
        return decode_term(name, await self._read(name))

    def _forget(self, lease: Lease) -> None:
        term = self._acquired.get(lease.name)
        if term is not None and term.continues(lease):
            del self._acquired[lease.name]

    @abstractmethod
    async def _create_domain(self, mark: bytes) -> str | None:
        """Write the key of the domain if it does not exist, and read the domain's name."""

    @abstractmethod
    async def _read(self, name: str) -> NameState[Bond] | None:
        """Read the name and the domain atomically. None: there is no domain."""

    @abstractmethod
    async def _claim(self, name: str, value: bytes, bond: Bond) -> NameState[Bond] | None:
        """Write the key of a vacant name, and read as `_read` does. Nothing without a domain."""

    @abstractmethod
    async def _renew(self, term: Term[Bond]) -> Term[Bond] | None:
        """Extend a term by its TTL. None: it is over."""

    @abstractmethod
    async def _delete(self, lease: Lease) -> bool:
        """Delete the key of this term. False: it was over."""

    @abstractmethod
    def _vacancy(self, name: str) -> Read[bool]:
        """How to wait for a change of the name, and read whether it is vacant."""
