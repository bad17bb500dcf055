"""Client: runs commands and scripts for one event loop, each of them once."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.exceptions import NoScriptError

from drumbeat.redis.address import Address
from drumbeat.redis.connection import Connection
from drumbeat.redis.scripts import Script

ANSWER_WITHIN = 5.0
"""Seconds that a server has for an answer, where the caller has no patience of its own."""
MOST_CALLS = 16
"""Calls that are under way at once; each has a connection of its own."""


class Client:
    """A server, as one event loop has it."""

    def __init__(self, address: Address) -> None:
        self._connection = Connection(address)
        self._room = asyncio.Semaphore(MOST_CALLS)
        self.checked = False
        """Whether the server was found fit for use."""

    async def command(self, *words: str | bytes | int) -> Any:
        """Run one command."""
        async with self._room, asyncio.timeout(ANSWER_WITHIN):
            return await self._connection.pool.execute_command(*words)

    async def run(
        self, script: Script, keys: tuple[str, ...], values: tuple[str | bytes | int, ...]
    ) -> Any:
        """Run a script by its digest; a server that has not seen it yet gets its text."""
        operands = (len(keys), *keys, *values)
        try:
            return await self.command("EVALSHA", script.digest, *operands)
        except NoScriptError:  # and so nothing has run
            return await self.command("EVAL", script.text, *operands)

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()
