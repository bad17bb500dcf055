"""Client: runs commands and scripts for one event loop, each at most once."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.exceptions import NoScriptError

from drumbeat.backends.redis.connection.address import Address
from drumbeat.backends.redis.connection.library_client import Connection
from drumbeat.backends.redis.connection.scripts import Script

ANSWER_WITHIN = 5.0
"""Seconds that a server has to answer, unless the caller has a shorter time-out."""
MOST_CALLS = 16
"""Calls at the same time; each has a connection of its own."""


class Client:
    """The connections of one event loop to a server."""

    def __init__(self, address: Address) -> None:
        self._connection = Connection(address)
        self._room = asyncio.Semaphore(MOST_CALLS)
        self.checked = False
        """Whether the server has passed `server_check`."""

    async def command(self, *words: str | bytes | int) -> Any:
        async with self._room, asyncio.timeout(ANSWER_WITHIN):
            return await self._connection.pool.execute_command(*words)

    async def run(
        self, script: Script, keys: tuple[str, ...], values: tuple[str | bytes | int, ...]
    ) -> Any:
        """Run a script by its digest, or by its text if the server does not know it yet."""
        operands = (len(keys), *keys, *values)
        try:
            return await self.command("EVALSHA", script.digest, *operands)
        except NoScriptError:  # so nothing was executed
            return await self.command("EVAL", script.text, *operands)

    async def close(self) -> None:
        await self._connection.close()
