"""Configuration: the Consul coordinator's small shared values."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.coordinators.consul.client import ConsulClient, Looked, Objected
from drumbeat.coordinators.consul.hints import Hints, Interest
from drumbeat.coordinators.consul.keyspace import Keyspace
from drumbeat.coordinators.consul.messages import delete_at, get, put, swap
from drumbeat.model.lease import Entry
from drumbeat.ports.runtime import Runtime

FLAG_BITS = 63


class ConsulConfiguration:
    """Values by key. Revisions are Consul's own: a deleted key never sees one again."""

    def __init__(self, client: ConsulClient, keyspace: Keyspace, runtime: Runtime) -> None:
        self._client = client
        self._keyspace = keyspace
        self._clock = runtime.clock
        self._random = runtime.random

    async def get(self, key: str) -> Entry | None:
        """The value, or None."""
        done = await self._client.read(get(self._keyspace.configuration(key)))
        if isinstance(done, Objected):
            return None
        (found,) = done
        return Entry(key, found.value or b"", found.modify_index)

    async def put(self, key: str, value: bytes) -> Entry:
        """Write whatever was there."""
        done = await self._client.transact_once(
            put(self._keyspace.configuration(key), value, self._flags())
        )
        assert not isinstance(done, Objected), "nothing speaks against a plain write"
        (found,) = done
        return Entry(key, value, found.modify_index)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision."""
        place = self._keyspace.configuration(key)
        if value is None:
            return await self._delete(key, revision)
        done = await self._client.transact_once(swap(place, value, revision, self._flags()))
        if isinstance(done, Objected):
            return None
        (found,) = done
        return Entry(key, value, found.modify_index)

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change."""
        place = self._keyspace.configuration(key)

        def seen_in(looked: Looked) -> tuple[Entry | None]:
            for found in looked.found:
                return (Entry(key, found.value or b"", found.modify_index),)
            return (None,)

        return _Watch(
            Hints(
                self._clock,
                Interest(
                    lambda index: self._client.look(place, index),
                    seen_in,
                    lambda told, seen: told != seen,
                ),
            )
        )

    def _flags(self) -> int:
        """New ones for each write: Consul would let an equal one pass and keep the revision."""
        return self._random.getrandbits(FLAG_BITS)

    async def _delete(self, key: str, revision: int) -> Entry | None:
        place = self._keyspace.configuration(key)
        done = await self._client.transact_once(delete_at(place, revision))
        if isinstance(done, Objected):
            return None
        looked = await self._client.look(place)  # Consul does not say at which index it deleted
        return Entry(key, b"", max(looked.index, revision + 1))


class _Watch:
    """Entries are seen in a tuple, since seeing that there is nothing is something too."""

    def __init__(self, hints: Hints[tuple[Entry | None]]) -> None:
        self._hints = hints

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        (entry,) = await anext(self._hints)
        return entry
