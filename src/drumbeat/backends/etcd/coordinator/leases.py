"""EtcdLeases: the terms of elections and locks, in etcd."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from math import ceil
from typing import NamedTuple, TypeAlias

from drumbeat.backends.etcd.connection.client import Change, EtcdClient
from drumbeat.backends.etcd.connection.messages import Header, KeyValue, Transacted
from drumbeat.backends.etcd.connection.refusal import NOT_FOUND, Refused
from drumbeat.backends.etcd.connection.transaction import (
    Keys,
    Transaction,
    bound_to,
    created_at,
    delete,
    exists,
    get,
    put,
)
from drumbeat.backends.etcd.coordinator.watch import Watcher
from drumbeat.backends.http.domain import Domain
from drumbeat.backends.http.hints import Changes, Hints, is_vacant
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

EtcdTerm: TypeAlias = Term[int]
"""A term, and the number of the etcd lease that its key is bound to."""


class Claim(NamedTuple):
    """A wanted term, and the etcd lease that its key is to be bound to."""

    name: str
    value: bytes
    number: int


class EtcdLeases:
    """One term at a time for each name."""

    def __init__(
        self, client: EtcdClient, watcher: Watcher, keyspace: Keyspace, domain: Domain
    ) -> None:
        self._client = client
        self._watcher = watcher
        self._keyspace = keyspace
        self._domain = domain
        self._acquired = AcquiredTerms[int]()

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if not await self._is_vacant(name, ttl):
            return None  # followers ask often, and a read is cheaper than an unused etcd lease
        number = await self._client.grant(ceil(ttl.total_seconds()))
        claim = Claim(name, encode_term(candidate, ttl), number)
        term = await self.claim(claim)
        if term is None or not self._domain.settling.is_over(term.lease.domain, ttl):
            await self._drop(number)
            return None
        self._acquired.keep(term)
        return term.lease

    async def renew(self, lease: Lease) -> Lease | None:
        """Bind the key of the term to a new etcd lease."""
        term = self._acquired.find(lease) or await self._held(lease.name)
        if term is None or not is_same_term(term.lease, lease):
            return None
        number = await self._client.grant(ceil(lease.ttl.total_seconds()))
        while term.bond != number:  # another renewal of the term was faster: try again after it
            term = await self.rebind(term, number)
            if term is None or not is_same_term(term.lease, lease):
                self._acquired.forget(lease)
                await self._drop(number)
                return None
        self._acquired.keep(term)
        return lease

    async def release(self, lease: Lease) -> bool:
        term = await self._held(lease.name)
        self._acquired.forget(lease)
        if term is None or not is_same_term(term.lease, lease):
            return False
        key = self._keyspace.lease(lease.name)
        deleted = await self._client.transact_once(
            Transaction((created_at(key, lease.token),), (delete(key),))
        )
        await self._drop(term.bond)
        return deleted.succeeded

    async def current(self, name: str) -> Lease | None:
        term = await self._held(name)
        return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        keys = Keys.only(self._keyspace.lease(name))
        read = self._watcher.reader(keys, lambda ranged: not ranged.kvs, Change.END)
        return Hints(Changes(self._watcher.clock, read, is_vacant))

    async def claim(self, claim: Claim) -> EtcdTerm | None:
        """Acquire the term if the name is vacant. Repeating it does no harm."""
        key = self._keyspace.lease(claim.name)
        look = (get(key), get(self._domain.key))
        transaction = Transaction(
            (created_at(key, 0), exists(self._domain.key)),
            (put(key, claim.value, claim.number), *look),
            look,
        )
        while True:
            try:
                done = await self._client.transact(transaction)
            except Refused as refused:
                if refused.code == NOT_FOUND:
                    return None  # its etcd lease has ended already
                raise
            found, mark = done.found(-2), done.found(-1)
            if mark is not None:
                break
            await self._domain.make()  # the cluster has lost its data since we opened it
        if found is None or found.lease != claim.number:
            return None  # a first try whose answer was lost would have bound it to our lease
        return _term(claim.name, done.header, found, mark)

    async def rebind(self, term: EtcdTerm, number: int) -> EtcdTerm | None:
        """Bind the key to another etcd lease, and return the term that the name has then.

        A delayed request that arrives after a later one finds another lease and changes nothing.
        """
        key = self._keyspace.lease(term.lease.name)
        value = encode_term(term.lease.holder, term.lease.ttl)
        look = (get(key), get(self._domain.key))
        done = await self._client.transact(
            Transaction(
                (created_at(key, term.lease.token), bound_to(key, term.bond)),
                (put(key, value, number), *look),
                look,
            )
        )
        return _found(term.lease.name, done)

    async def _held(self, name: str) -> EtcdTerm | None:
        key = self._keyspace.lease(name)
        look = Transaction(then=(get(key), get(self._domain.key)))
        done = await self._client.transact(look)
        return _found(name, done)

    async def _is_vacant(self, name: str, ttl: timedelta) -> bool:
        look = Transaction(then=(get(self._keyspace.lease(name)), get(self._domain.key)))
        while True:
            done = await self._client.transact(look)
            found, mark = done.found(0), done.found(1)
            if mark is not None:
                break
            await self._domain.make()  # the cluster has lost its data since we opened it
        settled = self._domain.settling.is_over(_domain_name(done.header, mark), ttl)
        return found is None and settled

    async def _drop(self, number: int) -> None:
        """End an etcd lease that is not needed any more; if that fails, it ends by itself."""
        with suppress(Unavailable):
            await self._client.revoke(number)


def domain_maker(client: EtcdClient) -> Callable[[str, bytes], Awaitable[str | None]]:
    """How to write the key of the domain if it does not exist, and read the domain's name."""

    async def make(key: str, mark: bytes) -> str | None:
        read = get(key)
        done = await client.transact(
            Transaction((created_at(key, 0),), (put(key, mark), read), (read,))
        )
        found = done.found(-1)
        return None if found is None else _domain_name(done.header, found)

    return make


def _domain_name(header: Header, mark: KeyValue) -> str:
    return f"etcd-{header.cluster_id:x}-{mark.value.decode(errors='replace')}"


def _found(name: str, done: Transacted) -> EtcdTerm | None:
    """The term in a transaction that ends with reads of the key and of the domain."""
    found, mark = done.found(-2), done.found(-1)
    return _term(name, done.header, found, mark) if found and mark else None


def _term(name: str, header: Header, found: KeyValue, mark: KeyValue) -> EtcdTerm | None:
    grant = Grant(_domain_name(header, mark), found.create_revision)
    lease = decode_term(name, found.value, grant)
    return None if lease is None else Term(lease, found.lease)
