"""EtcdRegistry: the live nodes, in etcd."""

from __future__ import annotations

from drumbeat.backends.etcd.connection import transaction as kv
from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.connection.refusal import NOT_FOUND, Refused
from drumbeat.backends.etcd.connection.transaction import Keys, Transaction
from drumbeat.backends.http.hints import Reading
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.backends.http.registry import HttpRegistry
from drumbeat.ports.clock import Clock


class EtcdRegistry(HttpRegistry[int]):
    """Each node's entry is bound to an etcd lease of its own."""

    def __init__(self, client: EtcdClient, keyspace: Keyspace, clock: Clock) -> None:
        super().__init__(client, keyspace, clock)
        self._client = client
        self._follow = client.reader(
            Keys.below(keyspace.nodes), lambda ranged: tuple(found.value for found in ranged.kvs)
        )

    async def _write(self, key: str, value: bytes, bond: int) -> bool:
        same = (kv.holds(key, value), kv.bound_to(key, bond))
        try:  # if it is the same, a heartbeat must not wake the watchers
            await self._client.transact(Transaction(same, otherwise=(kv.put(key, value, bond),)))
        except Refused as refused:
            if refused.code == NOT_FOUND:
                return False
            raise
        return True

    async def _delete(self, key: str) -> None:
        await self._client.transact(Transaction(then=(kv.delete(key),)))

    async def _read(self, since: int | None) -> Reading[tuple[bytes, ...]]:
        return await self._follow(since)
