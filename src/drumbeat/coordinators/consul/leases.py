"""Leases: the Consul coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from drumbeat.coordinators.consul.client import ConsulClient, Looked, Objected
from drumbeat.coordinators.consul.domain import Domain
from drumbeat.coordinators.consul.hints import Hints, Interest
from drumbeat.coordinators.consul.keyspace import Keyspace
from drumbeat.coordinators.consul.messages import KeyValue, delete_at, get, lock
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.ports.clock import Clock
from drumbeat.remote.term import Grant, read, same, written
from drumbeat.remote.vacancies import Vacancies


class Term(NamedTuple):
    """A term, and the session that it lives by."""

    lease: Lease
    session: str


class ConsulLeases:
    """One term at a time for each name."""

    def __init__(
        self, client: ConsulClient, clock: Clock, keyspace: Keyspace, domain: Domain
    ) -> None:
        self._client = client
        self._clock = clock
        self._keyspace = keyspace
        self._domain = domain
        self._terms: dict[str, Term] = {}
        """The last term of each name that was acquired here: it need not be looked for."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant."""
        if not await self._is_vacant(name, ttl):
            return None  # followers ask often: a read is cheaper than a session that is not used
        session = await self._client.make_session(ttl)
        term = await self._claim(name, written(candidate, ttl), session)
        if term is None or not self._domain.settling.is_over(term.lease.domain, ttl):
            await self._drop(session)
            return None
        self._terms[name] = term
        return term.lease

    async def renew(self, lease: Lease) -> Lease | None:
        """Lengthen this very term."""
        term = self._terms.get(lease.name)
        if term is None or term.lease != lease:
            term = await self._held(lease.name)
        if term is None or not same(term.lease, lease):
            return None
        renewed = await self._client.renew_session(term.session)
        if renewed and await self._held(lease.name) == term:
            return lease
        self._forget(lease)
        return None

    async def release(self, lease: Lease) -> bool:
        """End this very term, and wake those who wait."""
        term = await self._held(lease.name)
        self._forget(lease)
        if term is None or not same(term.lease, lease):
            return False
        deletion = delete_at(self._keyspace.lease(lease.name), lease.token)
        done = await self._client.transact_once(deletion)
        await self._drop(term.session)
        return not isinstance(done, Objected)

    async def current(self, name: str) -> Lease | None:
        """The live term of the name."""
        term = await self._held(name)
        return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint each time that the name is found vacant, at once if it is so now."""
        key = self._keyspace.lease(name)
        return Vacancies(
            Hints(
                self._clock,
                Interest(
                    lambda index: self._client.look(key, index),
                    _is_vacant,
                    lambda _told, vacant: vacant,
                ),
            )
        )

    async def _is_vacant(self, name: str, ttl: timedelta) -> bool:
        key = self._keyspace.lease(name)
        while True:
            done = await self._client.read(get(self._domain.key), get(key))
            if isinstance(done, Objected) and not done.concerns(0):  # there is no such key
                done = await self._client.read(get(self._domain.key))
            if not isinstance(done, Objected):
                break
            await self._domain.make()  # Consul was emptied since we opened it
        mark, *found = done
        settled = self._domain.settling.is_over(Domain.name(mark), ttl)
        return settled and not any(each.session for each in found)

    async def _claim(self, name: str, value: bytes, session: str) -> Term | None:
        key = self._keyspace.lease(name)
        while True:
            done = await self._client.transact(get(self._domain.key), lock(key, value, session))
            if not isinstance(done, Objected):
                break
            if not done.concerns(0):
                return None
            await self._domain.make()  # Consul was emptied since we opened it
        mark, locked = done
        grant = Grant(Domain.name(mark), locked.modify_index)
        lease = read(name, value, grant)
        return None if lease is None else Term(lease, session)

    async def _held(self, name: str) -> Term | None:
        done = await self._client.read(get(self._domain.key), get(self._keyspace.lease(name)))
        if isinstance(done, Objected):
            return None
        mark, found = done
        return _term(name, mark, found)

    async def _drop(self, session: str) -> None:
        """End a session that nothing needs any more; if that fails, it ends by itself."""
        with suppress(Unavailable):
            await self._client.end_session(session)

    def _forget(self, lease: Lease) -> None:
        term = self._terms.get(lease.name)
        if term is not None and same(term.lease, lease):
            del self._terms[lease.name]


def _is_vacant(looked: Looked) -> bool:
    return not any(found.session for found in looked.found)


def _term(name: str, mark: KeyValue, found: KeyValue) -> Term | None:
    if not found.session:
        return None
    grant = Grant(Domain.name(mark), found.modify_index)
    lease = read(name, found.value or b"", grant)
    return None if lease is None else Term(lease, found.session)
