"""RedisConfiguration: small values that the fleet shares, in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.backends.hint_waiter import ConfigurationWatch, HintWaiter
from drumbeat.backends.redis.connection.scripts import Scripts
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.coordinator.keys import Keys
from drumbeat.model.fleet.lease import Entry

SCRIPTS = Scripts("drumbeat.backends.redis.coordinator.scripts")
GET = SCRIPTS.named("get")
PUT = SCRIPTS.named("put")
REPLACE = SCRIPTS.named("replace")
REMOVE = SCRIPTS.named("remove")


class RedisConfiguration:
    """Values by key. Revisions are one rising number, so a deleted key never repeats one."""

    def __init__(self, server: Server, keys: Keys, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._keys = keys
        self._waiter = waiter

    async def get(self, key: str) -> Entry | None:
        found = await self._server.run(GET, (self._keys.entry(key),))
        return None if found is None else Entry(key, found[0], int(found[1]))

    async def put(self, key: str, value: bytes) -> Entry:
        revision = await self._server.run(PUT, self._where(key), value, key, self._keys.channel)
        return Entry(key, value, int(revision))

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        where, channel = self._where(key), self._keys.channel
        if value is None:
            written = await self._server.run(REMOVE, where, key, channel, revision)
        else:
            written = await self._server.run(REPLACE, where, value, key, channel, revision)
        return None if written is None else Entry(key, value or b"", int(written))

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        return ConfigurationWatch(self._waiter, f"configuration {key}", lambda: self.get(key))

    def _where(self, key: str) -> tuple[str, str]:
        return self._keys.entry(key), self._keys.number
