"""RedisConfiguration: small values that the fleet shares, in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from drumbeat.backends.hint_waiter import ConfigurationWatch, HintWaiter
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.coordinator.keys import Keys
from drumbeat.backends.redis.coordinator.scripts import SCRIPTS
from drumbeat.model.fleet.lease import Entry


class RedisConfiguration:
    """Values by key. Revisions are one rising number, so a deleted key never repeats one."""

    def __init__(self, server: Server, keys: Keys, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._keys = keys
        self._waiter = waiter

    async def get(self, key: str) -> Entry | None:
        found = await self._server.run(SCRIPTS["get"], (self._keys.entry(key),))
        return None if found is None else Entry(key, found[0], int(found[1]))

    async def put(self, key: str, value: bytes) -> Entry:
        return Entry(key, value, int(await self._write(key, "", value)))

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        values = () if value is None else (value,)
        written = await self._write(key, revision, *values)
        return None if written is None else Entry(key, value or b"", int(written))

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        return ConfigurationWatch(self._waiter, f"configuration {key}", lambda: self.get(key))

    async def _write(self, key: str, expected: int | str, *values: bytes) -> Any:
        keys = (self._keys.entry(key), self._keys.number)
        return await self._server.run(
            SCRIPTS["write"], keys, key, self._keys.channel, expected, *values
        )
