"""The shared configuration of the local fleet."""

from __future__ import annotations

from typing import Any

import msgspec

from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import Contended, OversizedValue, RevisionMismatch, UnknownKey
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.coordinator import Configuration
from drumbeat.wire.entry import EntryView, entry_view

LARGEST_VALUE = 64 * 1024
LONGEST_KEY = 200
RESERVED = ("drumbeat/", "in-process/", "resign/")
"""Prefixes of the keys that only Drumbeat itself writes."""
TRIES = 20


class LocalConfiguration:
    """Implements `FleetConfiguration` over the coordinator."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._coordinator = services.coordinator
        self._trail = trail

    async def get(self, key: str) -> EntryView:
        return entry_view(await _found(await self._opened(key), key))

    async def put(
        self, key: str, value: Any, *, revision: int | None = None, reason: str = ""
    ) -> EntryView:
        async with self._trail.change("configuration.put", key, reason):
            configuration = await self._opened(key)
            encoded = msgspec.json.encode(value)
            if len(encoded) > LARGEST_VALUE:
                rule = f"at most {LARGEST_VALUE:,} bytes as JSON"
                raise OversizedValue(f"a value has {rule}", rule=rule)
            if revision is None:
                return entry_view(await configuration.put(key, encoded))
            written = await configuration.compare_and_set(key, encoded, revision)
            if written is None:
                raise RevisionMismatch(key, revision)
            return entry_view(written)

    async def delete(self, key: str, *, revision: int | None = None, reason: str = "") -> None:
        async with self._trail.change("configuration.delete", key, reason):
            configuration = await self._opened(key)
            if revision is not None:
                await _found(configuration, key)
                if await configuration.compare_and_set(key, None, revision) is None:
                    raise RevisionMismatch(key, revision)
                return
            for _ in range(TRIES):
                entry = await _found(configuration, key)
                if await configuration.compare_and_set(key, None, entry.revision) is not None:
                    return
            raise Contended(f"{key!r} kept changing")

    async def _opened(self, key: str) -> Configuration:
        if len(key) > LONGEST_KEY or key.startswith(RESERVED):
            raise UnknownKey(
                f"a key has at most {LONGEST_KEY} characters, and those that begin with "
                f"{', '.join(RESERVED)} are Drumbeat's own"
            )
        await self._coordinator.open()
        return self._coordinator.configuration


async def _found(configuration: Configuration, key: str) -> Entry:
    entry = await configuration.get(key)
    if entry is None:
        raise UnknownKey(f"nothing is kept under {key!r}")
    return entry
