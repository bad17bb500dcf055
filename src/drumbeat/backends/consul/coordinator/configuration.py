"""ConsulConfiguration: small values that the fleet shares, in Consul."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.backends.consul.connection.client import ConsulClient, Objected
from drumbeat.backends.consul.connection.messages import delete_at, get, put, swap
from drumbeat.backends.http.hints import Changes, Reading
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.runtime import Runtime

FLAG_BITS = 63


class ConsulConfiguration:
    """Values by key. Revisions are Consul's indexes, so a deleted key never repeats one."""

    def __init__(self, client: ConsulClient, keyspace: Keyspace, runtime: Runtime) -> None:
        self._client = client
        self._keyspace = keyspace
        self._clock = runtime.clock
        self._random = runtime.random

    async def get(self, key: str) -> Entry | None:
        done = await self._client.read(get(self._keyspace.configuration(key)))
        if isinstance(done, Objected):
            return None
        return Entry(key, done[0].value or b"", done[0].modify_index)

    async def put(self, key: str, value: bytes) -> Entry:
        write = put(self._keyspace.configuration(key), value, self._flags())
        done = await self._client.transact_once(write)
        assert not isinstance(done, Objected), "an unconditional write has no objections"
        return Entry(key, value, done[0].modify_index)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        place = self._keyspace.configuration(key)
        if value is None:
            write = delete_at(place, revision)
        else:
            write = swap(place, value, revision, self._flags())
        done = await self._client.transact_once(write)
        if isinstance(done, Objected):
            return None
        if value is not None:
            return Entry(key, value, done[0].modify_index)
        found = await self._client.find(place)  # Consul does not return the index of a deletion
        return Entry(key, b"", max(found.index, revision + 1))

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        place = self._keyspace.configuration(key)

        async def read(since: int | None) -> Reading[Entry | None]:
            found = await self._client.find(place, since or 0)
            entries = [Entry(key, each.value or b"", each.modify_index) for each in found.keys]
            return Reading(entries[0] if entries else None, found.index)

        return Changes(self._clock, read)

    def _flags(self) -> int:
        """New flags for each write: Consul ignores an equal write and keeps the revision."""
        return self._random.getrandbits(FLAG_BITS)
