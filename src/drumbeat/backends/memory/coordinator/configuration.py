"""Configuration: the memory coordinator's small shared values."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from threading import Lock

from drumbeat.backends.hint_waiter import ConfigurationWatch, HintWaiter
from drumbeat.backends.listeners import ANY, Listeners
from drumbeat.forks import renew_in_children
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.clock import Clock


class MemoryConfiguration:
    """Values by key. Revisions come from one counter: a deleted key never sees one again."""

    def __init__(self, clock: Clock) -> None:
        self._listeners = Listeners()
        self._waiter = HintWaiter(self._listeners.add, clock)
        self._revisions = count(1)
        self._begin()
        renew_in_children(self._begin)

    def _begin(self) -> None:
        self._lock = Lock()
        self._entries: dict[str, Entry] = {}

    async def get(self, key: str) -> Entry | None:
        with self._lock:
            return self._entries.get(key)

    async def put(self, key: str, value: bytes) -> Entry:
        with self._lock:
            entry = self._write(key, value)
        self._listeners.wake()
        return entry

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        with self._lock:
            last = self._entries.get(key)
            if revision != (0 if last is None else last.revision):
                return None
            entry = self._write(key, value)
        self._listeners.wake()
        return entry

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        return ConfigurationWatch(self._waiter, ANY, lambda: self.get(key))

    def _write(self, key: str, value: bytes | None) -> Entry:
        entry = Entry(key, value or b"", next(self._revisions))
        if value is None:
            self._entries.pop(key, None)
        else:
            self._entries[key] = entry
        return entry
