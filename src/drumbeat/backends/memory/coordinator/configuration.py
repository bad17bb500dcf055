"""Configuration: the memory coordinator's small shared values."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from threading import Lock
from typing import NamedTuple

from drumbeat.backends.memory.coordinator.waiters import Waiters
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.clock import Clock


class Write(NamedTuple):
    """The last write of a key; one without a value deleted it."""

    revision: int
    value: bytes | None


NEVER = Write(0, None)


class MemoryConfiguration:
    """Values by key. Revisions come from one counter: a deleted key never sees one again."""

    def __init__(self, clock: Clock) -> None:
        self._lock = Lock()
        self._waiters = Waiters(clock)
        self._writes: dict[str, Write] = {}
        self._revisions = count(1)

    async def get(self, key: str) -> Entry | None:
        return _entry(key, self.last(key))

    async def put(self, key: str, value: bytes) -> Entry:
        with self._lock:
            entry = self._write(key, value)
        self._waiters.wake_all()
        return entry

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        with self._lock:
            last = self._writes.get(key, NEVER)
            if revision != (0 if last.value is None else last.revision):
                return None
            entry = self._write(key, value)
        self._waiters.wake_all()
        return entry

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change."""
        return _Watch(self, self._waiters, key)

    def last(self, key: str) -> Write:
        """The last write of the key."""
        with self._lock:
            return self._writes.get(key, NEVER)

    def _write(self, key: str, value: bytes | None) -> Entry:
        write = self._writes[key] = Write(next(self._revisions), value)
        return Entry(key, value or b"", write.revision)


class _Watch:
    """Sees the last write each time that it is asked, if it has not seen it yet."""

    def __init__(self, configuration: MemoryConfiguration, waiters: Waiters, key: str) -> None:
        self._configuration = configuration
        self._waiters = waiters
        self._key = key
        self._seen: Write | None = None

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        self._seen = await self._waiters.wait_for(self._unseen, lambda: None)
        return _entry(self._key, self._seen)

    def _unseen(self) -> Write | None:
        last = self._configuration.last(self._key)
        return None if last == self._seen else last


def _entry(key: str, write: Write) -> Entry | None:
    return None if write.value is None else Entry(key, write.value, write.revision)
