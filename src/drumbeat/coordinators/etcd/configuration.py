"""Configuration: the etcd coordinator's small shared values."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.coordinators.etcd.client import EtcdClient
from drumbeat.coordinators.etcd.hints import Glance, Hints, Interest, Watcher
from drumbeat.coordinators.etcd.keyspace import Keyspace
from drumbeat.coordinators.etcd.transaction import Keys, Transaction, delete, put, written_at
from drumbeat.model.lease import Entry


class EtcdConfiguration:
    """Values by key. Revisions are those of the cluster: a deleted key never sees one again."""

    def __init__(self, client: EtcdClient, watcher: Watcher, keyspace: Keyspace) -> None:
        self._client = client
        self._watcher = watcher
        self._keyspace = keyspace

    async def get(self, key: str) -> Entry | None:
        """The value, or None."""
        (entry,) = (await self._look(key)).seen
        return entry

    async def put(self, key: str, value: bytes) -> Entry:
        """Write whatever was there."""
        operation = put(self._keyspace.configuration(key), value)
        done = await self._client.transact_once(Transaction(then=(operation,)))
        return Entry(key, value, done.header.revision)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision."""
        place = self._keyspace.configuration(key)
        operation = delete(place) if value is None else put(place, value)
        done = await self._client.transact_once(
            Transaction((written_at(place, revision),), (operation,))
        )
        return Entry(key, value or b"", done.header.revision) if done.succeeded else None

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change."""
        keys = Keys.only(self._keyspace.configuration(key))
        return _Watch(Hints(self._watcher, Interest(keys, lambda: self._look(key), _is_another)))

    async def _look(self, key: str) -> Glance[tuple[Entry | None]]:
        ranged = await self._client.range(Keys.only(self._keyspace.configuration(key)))
        entry = None
        for found in ranged.kvs:
            entry = Entry(key, found.value, found.mod_revision)
        return Glance((entry,), ranged.header.revision)


class _Watch:
    """Entries are seen in a tuple, since seeing that there is nothing is something too."""

    def __init__(self, hints: Hints[tuple[Entry | None]]) -> None:
        self._hints = hints

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        (entry,) = await anext(self._hints)
        return entry


def _is_another(told: tuple[Entry | None] | None, seen: tuple[Entry | None]) -> bool:
    return told != seen
