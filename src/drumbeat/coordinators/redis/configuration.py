"""Configuration: the Redis coordinator's small shared values."""

from __future__ import annotations

from collections.abc import AsyncIterator

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.redis.keys import Keys
from drumbeat.model.lease import Entry
from drumbeat.redis.scripts import Scripts
from drumbeat.redis.server import Server

SCRIPTS = Scripts("drumbeat.coordinators.redis.scripts")
GET = SCRIPTS.named("get")
PUT = SCRIPTS.named("put")
REPLACE = SCRIPTS.named("replace")
REMOVE = SCRIPTS.named("remove")


class RedisConfiguration:
    """Values by key. Revisions are one rising number: a deleted key never sees one again."""

    def __init__(self, server: Server, keys: Keys, bell: Bell[str]) -> None:
        self._server = server
        self._keys = keys
        self._bell = bell

    async def get(self, key: str) -> Entry | None:
        """The value, or None."""
        found = await self._server.run(GET, (self._keys.entry(key),))
        return None if found is None else Entry(key, found[0], int(found[1]))

    async def put(self, key: str, value: bytes) -> Entry:
        """Write whatever was there."""
        revision = await self._server.run(PUT, self._where(key), value, key, self._keys.channel)
        return Entry(key, value, int(revision))

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision."""
        where, channel = self._where(key), self._keys.channel
        if value is None:
            written = await self._server.run(REMOVE, where, key, channel, revision)
        else:
            written = await self._server.run(REPLACE, where, value, key, channel, revision)
        return None if written is None else Entry(key, value or b"", int(written))

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change."""
        return _Watch(self, self._bell, key)

    def _where(self, key: str) -> tuple[str, str]:
        return self._keys.entry(key), self._keys.number


class _Watch:
    """Sees the last write each time that it is asked, if it has not seen it yet."""

    def __init__(self, configuration: RedisConfiguration, bell: Bell[str], key: str) -> None:
        self._configuration = configuration
        self._bell = bell
        self._key = key
        self._seen: tuple[Entry | None] | None = None
        """What was seen last, in a tuple, since seeing that there is nothing is something too."""

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        self._seen = await self._bell.wait_for(
            f"configuration {self._key}", self._unseen, lambda: None
        )
        return self._seen[0]

    async def _unseen(self) -> tuple[Entry | None] | None:
        last = (await self._configuration.get(self._key),)
        return None if last == self._seen else last
