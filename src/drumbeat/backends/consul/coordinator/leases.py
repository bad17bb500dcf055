"""ConsulLeases: the terms of elections and locks, in Consul."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeAlias

from drumbeat.backends.consul.connection.client import ConsulClient, Objected
from drumbeat.backends.consul.connection.messages import KeyValue, delete_at, get, lock, swap
from drumbeat.backends.http.domain import Domain
from drumbeat.backends.http.hints import Changes, Hints, Reading, is_vacant
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.backends.http.terms import (
    AcquiredTerms,
    Grant,
    Term,
    decode_term,
    encode_term,
    is_same_term,
)
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock

ConsulTerm: TypeAlias = Term[str]
"""A term, and the session that has locked its key."""


class ConsulLeases:
    """One term at a time for each name."""

    def __init__(
        self, client: ConsulClient, clock: Clock, keyspace: Keyspace, domain: Domain
    ) -> None:
        self._client = client
        self._clock = clock
        self._keyspace = keyspace
        self._domain = domain
        self._acquired = AcquiredTerms[str]()

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if not await self._is_vacant(name, ttl):
            return None  # followers ask often, and a read is cheaper than an unused session
        session = await self._client.make_session(ttl)
        term = await self._claim(name, encode_term(candidate, ttl), session)
        if term is None or not self._domain.settling.is_over(term.lease.domain, ttl):
            await self._drop(session)
            return None
        self._acquired.keep(term)
        return term.lease

    async def renew(self, lease: Lease) -> Lease | None:
        term = self._acquired.find(lease) or await self._held(lease.name)
        if term is None or not is_same_term(term.lease, lease):
            return None
        renewed = await self._client.renew_session(term.bond)
        if renewed and await self._held(lease.name) == term:
            return lease
        self._acquired.forget(lease)
        return None

    async def release(self, lease: Lease) -> bool:
        term = await self._held(lease.name)
        self._acquired.forget(lease)
        if term is None or not is_same_term(term.lease, lease):
            return False
        deletion = delete_at(self._keyspace.lease(lease.name), lease.token)
        done = await self._client.transact_once(deletion)
        await self._drop(term.bond)
        return not isinstance(done, Objected)

    async def current(self, name: str) -> Lease | None:
        term = await self._held(name)
        return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        key = self._keyspace.lease(name)

        async def read(since: int | None) -> Reading[bool]:
            found = await self._client.find(key, since or 0)
            return Reading(not any(each.session for each in found.keys), found.index)

        return Hints(Changes(self._clock, read, is_vacant))

    async def _is_vacant(self, name: str, ttl: timedelta) -> bool:
        key = self._keyspace.lease(name)
        while True:
            done = await self._client.read(get(self._domain.key), get(key))
            if isinstance(done, Objected) and not done.concerns(0):  # only the name is missing
                done = await self._client.read(get(self._domain.key))
            if not isinstance(done, Objected):
                break
            await self._domain.make()  # Consul has lost its data since we opened it
        mark, *found = done
        settled = self._domain.settling.is_over(_domain_name(mark), ttl)
        return settled and not any(each.session for each in found)

    async def _claim(self, name: str, value: bytes, session: str) -> ConsulTerm | None:
        key = self._keyspace.lease(name)
        while True:
            done = await self._client.transact(get(self._domain.key), lock(key, value, session))
            if not isinstance(done, Objected):
                break
            if not done.concerns(0):
                return None
            await self._domain.make()  # Consul has lost its data since we opened it
        mark, locked = done
        grant = Grant(_domain_name(mark), locked.modify_index)
        lease = decode_term(name, value, grant)
        return None if lease is None else Term(lease, session)

    async def _held(self, name: str) -> ConsulTerm | None:
        done = await self._client.read(get(self._domain.key), get(self._keyspace.lease(name)))
        if isinstance(done, Objected):
            return None
        mark, found = done
        return _term(name, mark, found)

    async def _drop(self, session: str) -> None:
        """End a session that is not needed any more; if that fails, it ends by itself."""
        with suppress(Unavailable):
            await self._client.end_session(session)


def domain_maker(client: ConsulClient) -> Callable[[str, bytes], Awaitable[str | None]]:
    """How to write the key of the domain if it does not exist, and read the domain's name."""

    async def make(key: str, mark: bytes) -> str | None:
        await client.transact(swap(key, mark, 0))
        done = await client.read(get(key))
        return None if isinstance(done, Objected) else _domain_name(done[0])

    return make


def _domain_name(mark: KeyValue) -> str:
    return f"consul-{(mark.value or b'').decode(errors='replace')}"


def _term(name: str, mark: KeyValue, found: KeyValue) -> ConsulTerm | None:
    if not found.session:
        return None
    grant = Grant(_domain_name(mark), found.modify_index)
    lease = decode_term(name, found.value or b"", grant)
    return None if lease is None else Term(lease, found.session)
