"""Leases: the etcd coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from math import ceil
from typing import NamedTuple

from drumbeat.coordinators.etcd.client import Change, EtcdClient
from drumbeat.coordinators.etcd.domain import Domain
from drumbeat.coordinators.etcd.hints import Glance, Hints, Interest, Watcher
from drumbeat.coordinators.etcd.keyspace import Keyspace
from drumbeat.coordinators.etcd.messages import Header, KeyValue, Transacted
from drumbeat.coordinators.etcd.refusal import NOT_FOUND, Refused
from drumbeat.coordinators.etcd.transaction import (
    Keys,
    Transaction,
    bound_to,
    created_at,
    delete,
    exists,
    get,
    put,
)
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.remote.term import Grant, read, same, written
from drumbeat.remote.vacancies import Vacancies


class Term(NamedTuple):
    """A term, and the etcd lease that it lives by."""

    lease: Lease
    number: int


class Claim(NamedTuple):
    """A term that somebody wants, with the etcd lease that it is to live by."""

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
        self._terms: dict[str, Term] = {}
        """The last term of each name that was acquired here: it need not be looked for."""

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant."""
        if not await self._is_vacant(name, ttl):
            return None  # followers ask often: a read is cheaper than a lease that is not used
        number = await self._client.grant(ceil(ttl.total_seconds()))
        claim = Claim(name, written(candidate, ttl), number)
        term = await self.claim(claim)
        if term is None or not self._domain.settling.is_over(term.lease.domain, ttl):
            await self._drop(number)
            return None
        self._terms[name] = term
        return term.lease

    async def renew(self, lease: Lease) -> Lease | None:
        """Lengthen this very term: bind its key to a new etcd lease."""
        term = self._terms.get(lease.name)
        if term is None or not same(term.lease, lease):
            term = await self._held(lease.name)
        if term is None or not same(term.lease, lease):
            return None
        number = await self._client.grant(ceil(lease.ttl.total_seconds()))
        while term.number != number:  # another of its renewals was faster: once more, after that
            term = await self.rebind(term, number)
            if term is None or not same(term.lease, lease):
                self._forget(lease)
                await self._drop(number)
                return None
        self._terms[lease.name] = term
        return lease

    async def release(self, lease: Lease) -> bool:
        """End this very term, and wake those who wait."""
        term = await self._held(lease.name)
        self._forget(lease)
        if term is None or not same(term.lease, lease):
            return False
        key = self._keyspace.lease(lease.name)
        deleted = await self._client.transact_once(
            Transaction((created_at(key, lease.token),), (delete(key),))
        )
        await self._drop(term.number)
        return deleted.succeeded

    async def current(self, name: str) -> Lease | None:
        """The live term of the name."""
        term = await self._held(name)
        return None if term is None else term.lease

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint each time that the name is found vacant, at once if it is so now."""
        keys = Keys.only(self._keyspace.lease(name))

        async def look() -> Glance[bool]:
            ranged = await self._client.range(keys)
            return Glance(not ranged.kvs, ranged.header.revision)

        return Vacancies(Hints(self._watcher, Interest(keys, look, _is_vacant, Change.END)))

    async def claim(self, claim: Claim) -> Term | None:
        """Turn a claim into a term if the name is vacant. Repeating it does no harm."""
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
                    return None  # its lease ended before it began
                raise
            found, mark = done.found(-2), done.found(-1)
            if mark is not None:
                break
            await self._domain.make()  # the cluster was emptied since we opened it
        if found is None or found.lease != claim.number:
            return None  # had our first try written it and its answer got lost, it would be ours
        return _term(claim.name, done.header, found, mark)

    async def rebind(self, term: Term, number: int) -> Term | None:
        """Bind the key to that lease in place of the term's own, and see what it is now.

        A try that was held up and arrives after a later one finds another lease, and does nothing.
        """
        key = self._keyspace.lease(term.lease.name)
        value = written(term.lease.holder, term.lease.ttl)
        look = (get(key), get(self._domain.key))
        done = await self._client.transact(
            Transaction(
                (created_at(key, term.lease.token), bound_to(key, term.number)),
                (put(key, value, number), *look),
                look,
            )
        )
        return _found(term.lease.name, done)

    async def _held(self, name: str) -> Term | None:
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
            await self._domain.make()  # the cluster was emptied since we opened it
        settled = self._domain.settling.is_over(Domain.name(done.header, mark), ttl)
        return found is None and settled

    async def _drop(self, number: int) -> None:
        """End a lease that nothing needs any more; if that fails, it ends by itself."""
        with suppress(Unavailable):
            await self._client.revoke(number)

    def _forget(self, lease: Lease) -> None:
        term = self._terms.get(lease.name)
        if term is not None and same(term.lease, lease):
            del self._terms[lease.name]


def _is_vacant(_told: bool | None, vacant: bool) -> bool:  # noqa: FBT001 - what was seen
    return vacant


def _found(name: str, done: Transacted) -> Term | None:
    """What a transaction says that ends with looks at the key and at the domain."""
    found, mark = done.found(-2), done.found(-1)
    return _term(name, done.header, found, mark) if found and mark else None


def _term(name: str, header: Header, found: KeyValue, mark: KeyValue) -> Term | None:
    grant = Grant(Domain.name(header, mark), found.create_revision)
    lease = read(name, found.value, grant)
    return None if lease is None else Term(lease, found.lease)
