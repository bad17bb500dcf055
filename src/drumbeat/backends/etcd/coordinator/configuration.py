"""EtcdConfiguration: small values that the fleet shares, in etcd."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.backends.etcd.connection import transaction as kv
from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.connection.messages import Ranged
from drumbeat.backends.etcd.connection.transaction import Keys, Transaction
from drumbeat.backends.http.hints import Changes
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.clock import Clock


class EtcdConfiguration:
    """Values by key. Revisions are those of the cluster, so a deleted key never repeats one."""

    def __init__(self, client: EtcdClient, keyspace: Keyspace, clock: Clock) -> None:
        self._client = client
        self._keyspace = keyspace
        self._clock = clock

    async def get(self, key: str) -> Entry | None:
        return _entry(key, await self._client.range(Keys.only(self._keyspace.configuration(key))))

    async def put(self, key: str, value: bytes) -> Entry:
        operation = kv.put(self._keyspace.configuration(key), value)
        done = await self._client.transact_once(Transaction(then=(operation,)))
        return Entry(key, value, done.header.revision)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        place = self._keyspace.configuration(key)
        operation = kv.delete(place) if value is None else kv.put(place, value)
        done = await self._client.transact_once(
            Transaction((kv.written_at(place, revision),), (operation,))
        )
        return Entry(key, value or b"", done.header.revision) if done.succeeded else None

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        keys = Keys.only(self._keyspace.configuration(key))
        return Changes(self._clock, self._client.reader(keys, lambda found: _entry(key, found)))


def _entry(key: str, ranged: Ranged) -> Entry | None:
    for found in ranged.kvs:
        return Entry(key, found.value, found.mod_revision)
    return None
