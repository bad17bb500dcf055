"""EtcdLeases: the terms of elections and locks, in etcd."""

from __future__ import annotations

from typing import TypeAlias

from drumbeat.backends.etcd.connection import transaction as kv
from drumbeat.backends.etcd.connection.client import Change, EtcdClient
from drumbeat.backends.etcd.connection.messages import Header, KeyValue, Transacted
from drumbeat.backends.etcd.connection.refusal import NOT_FOUND, Refused
from drumbeat.backends.etcd.connection.transaction import Keys, Operation, Transaction
from drumbeat.backends.http.bonds import drop
from drumbeat.backends.http.hints import Read
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.backends.http.leases import HttpLeases
from drumbeat.backends.http.terms import HeldKey, NameState, Term, decode_term, encode_term
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.runtime import Runtime

EtcdTerm: TypeAlias = Term[int]
"""A term, and the number of the etcd lease that its key is bound to."""


class EtcdLeases(HttpLeases[int]):
    """Renews a term by a new etcd lease. A token is the revision at which the key was created."""

    def __init__(self, client: EtcdClient, keyspace: Keyspace, runtime: Runtime) -> None:
        super().__init__(client, keyspace, runtime)
        self._client = client

    async def rebind(self, term: EtcdTerm, bond: int) -> EtcdTerm | None:
        """Bind the key to another etcd lease, and return the term that the name has then.

        A delayed request that arrives after a later one finds another lease and changes nothing.
        """
        lease = term.lease
        key, look = self._keyspace.lease(lease.name), self._look(lease.name)
        write = kv.put(key, encode_term(lease.holder, lease.ttl), bond)
        unchanged = (kv.created_at(key, lease.token), kv.bound_to(key, term.bond))
        done = await self._client.transact(Transaction(unchanged, (write, *look), look))
        return decode_term(lease.name, _state(done))

    async def _renew(self, term: EtcdTerm) -> EtcdTerm | None:
        bond = await self._client.make_bond(term.lease.ttl)
        while term.bond != bond:  # another renewal of the term was faster: try again after it
            rebound = await self.rebind(term, bond)
            if rebound is None or not rebound.continues(term.lease):
                await drop(self._client, bond)
                return None
            term = rebound
        return term

    async def _create_domain(self, mark: bytes) -> str | None:
        key = self._keyspace.domain
        read = kv.get(key)
        create = Transaction((kv.created_at(key, 0),), (kv.put(key, mark), read), (read,))
        done = await self._client.transact(create)
        found = done.found(-1)
        return None if found is None else _domain_name(done.header, found)

    async def _read(self, name: str) -> NameState[int] | None:
        return _state(await self._client.transact(Transaction(then=self._look(name))))

    async def _claim(self, name: str, value: bytes, bond: int) -> NameState[int] | None:
        key, look = self._keyspace.lease(name), self._look(name)
        vacant = (kv.created_at(key, 0), kv.exists(self._keyspace.domain))
        try:
            done = await self._client.transact(
                Transaction(vacant, (kv.put(key, value, bond), *look), look)
            )
        except Refused as refused:
            if refused.code != NOT_FOUND:
                raise
            return await self._read(name)  # the etcd lease has ended already
        return _state(done)

    async def _delete(self, lease: Lease) -> bool:
        key = self._keyspace.lease(lease.name)
        deletion = Transaction((kv.created_at(key, lease.token),), (kv.delete(key),))
        return (await self._client.transact_once(deletion)).succeeded

    def _vacancy(self, name: str) -> Read[bool]:
        keys = Keys.only(self._keyspace.lease(name))
        return self._client.reader(keys, lambda ranged: not ranged.kvs, Change.END)

    def _look(self, name: str) -> tuple[Operation, Operation]:
        return kv.get(self._keyspace.lease(name)), kv.get(self._keyspace.domain)


def _state(done: Transacted) -> NameState[int] | None:
    """The state in a transaction that ends with `_look`."""
    found, mark = done.found(-2), done.found(-1)
    if mark is None:
        return None
    held = HeldKey(found.value, found.create_revision, found.lease) if found else None
    return NameState(_domain_name(done.header, mark), held)


def _domain_name(header: Header, mark: KeyValue) -> str:
    return f"etcd-{header.cluster_id:x}-{mark.value.decode(errors='replace')}"
