"""ConsulRegistry: the live nodes, in Consul."""

from __future__ import annotations

from drumbeat.backends.consul.connection.client import ConsulClient, Objected
from drumbeat.backends.consul.connection.messages import delete, lock
from drumbeat.backends.http.hints import Reading
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.backends.http.registry import HttpRegistry
from drumbeat.ports.clock import Clock


class ConsulRegistry(HttpRegistry[str]):
    """Each node's entry is locked by a session of its own."""

    def __init__(self, client: ConsulClient, keyspace: Keyspace, clock: Clock) -> None:
        super().__init__(client, keyspace, clock)
        self._client = client

    async def _write(self, key: str, value: bytes, bond: str) -> bool:
        entry = lock(key, value, bond)  # Consul changes nothing if the entry is the same
        done = await self._client.transact(entry)
        if isinstance(done, Objected):  # an earlier session of this node still has the lock
            done = await self._client.transact(delete(key), entry)
        return not isinstance(done, Objected)

    async def _delete(self, key: str) -> None:
        await self._client.transact(delete(key))

    async def _read(self, since: int | None) -> Reading[tuple[bytes, ...]]:
        found = await self._client.find_below(self._keyspace.nodes, since or 0)
        values = tuple(each.value or b"" for each in found.keys if each.session)
        return Reading(values, found.index)
