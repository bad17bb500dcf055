"""ConsulLeases: the terms of elections and locks, in Consul."""

from __future__ import annotations

from drumbeat.backends.consul.connection.client import ConsulClient, Objected
from drumbeat.backends.consul.connection.messages import KeyValue, delete_at, get, lock, swap
from drumbeat.backends.http.hints import Read, Reading
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.backends.http.leases import HttpLeases
from drumbeat.backends.http.terms import HeldKey, NameState, Term
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.runtime import Runtime


class ConsulLeases(HttpLeases[str]):
    """Renews a term by its session. A token is the index at which the key was locked."""

    def __init__(self, client: ConsulClient, keyspace: Keyspace, runtime: Runtime) -> None:
        super().__init__(client, keyspace, runtime)
        self._client = client

    async def _renew(self, term: Term[str]) -> Term[str] | None:
        renewed = await self._client.renew_bond(term.bond)
        return term if renewed and await self._held(term.lease.name) == term else None

    async def _create_domain(self, mark: bytes) -> str | None:
        key = self._keyspace.domain
        await self._client.transact(swap(key, mark, 0))
        done = await self._client.read(get(key))
        return None if isinstance(done, Objected) else _domain_name(done[0])

    async def _read(self, name: str) -> NameState[str] | None:
        domain = get(self._keyspace.domain)
        done = await self._client.read(domain, get(self._keyspace.lease(name)))
        if isinstance(done, Objected) and not done.concerns(0):  # only the name is missing
            done = await self._client.read(domain)
        if isinstance(done, Objected):
            return None
        mark, *found = done
        held = [
            HeldKey(each.value or b"", each.modify_index, each.session)
            for each in found
            if each.session
        ]
        return NameState(_domain_name(mark), held[0] if held else None)

    async def _claim(self, name: str, value: bytes, bond: str) -> NameState[str] | None:
        key = self._keyspace.lease(name)
        done = await self._client.transact(get(self._keyspace.domain), lock(key, value, bond))
        if isinstance(done, Objected):
            return None if done.concerns(0) else await self._read(name)
        mark, locked = done
        return NameState(_domain_name(mark), HeldKey(value, locked.modify_index, bond))

    async def _delete(self, lease: Lease) -> bool:
        deletion = delete_at(self._keyspace.lease(lease.name), lease.token)
        return not isinstance(await self._client.transact_once(deletion), Objected)

    def _vacancy(self, name: str) -> Read[bool]:
        key = self._keyspace.lease(name)

        async def read(since: int | None) -> Reading[bool]:
            found = await self._client.find(key, since or 0)
            return Reading(not any(each.session for each in found.keys), found.index)

        return read


def _domain_name(mark: KeyValue) -> str:
    return f"consul-{(mark.value or b'').decode(errors='replace')}"
