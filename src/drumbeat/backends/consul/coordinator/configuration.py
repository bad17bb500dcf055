"""ConsulConfiguration: small values that the fleet shares, in Consul."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.backends.consul.connection.client import ConsulClient, Objected
from drumbeat.backends.consul.connection.messages import Operation, delete_at, get, put, swap
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
        (found,) = done
        return Entry(key, found.value or b"", found.modify_index)

    async def put(self, key: str, value: bytes) -> Entry:
        write = put(self._keyspace.configuration(key), value, self._flags())
        entry = await self._write(key, value, write)
        assert entry is not None, "an unconditional write has no objections"
        return entry

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        place = self._keyspace.configuration(key)
        if value is None:
            return await self._delete(key, revision)
        return await self._write(key, value, swap(place, value, revision, self._flags()))

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        place = self._keyspace.configuration(key)

        async def read(since: int | None) -> Reading[Entry | None]:
            found = await self._client.find(place, since or 0)
            entry = None
            for each in found.keys:
                entry = Entry(key, each.value or b"", each.modify_index)
            return Reading(entry, found.index)

        return Changes(self._clock, read)

    def _flags(self) -> int:
        """New flags for each write: Consul ignores an equal write and keeps the revision."""
        return self._random.getrandbits(FLAG_BITS)

    async def _write(self, key: str, value: bytes, operation: Operation) -> Entry | None:
        done = await self._client.transact_once(operation)
        if isinstance(done, Objected):
            return None
        (found,) = done
        return Entry(key, value, found.modify_index)

    async def _delete(self, key: str, revision: int) -> Entry | None:
        place = self._keyspace.configuration(key)
        done = await self._client.transact_once(delete_at(place, revision))
        if isinstance(done, Objected):
            return None
        found = await self._client.find(place)  # Consul does not return the index of a deletion
        return Entry(key, b"", max(found.index, revision + 1))
