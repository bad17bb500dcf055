"""Client: the connections of one event loop to the primary; each command is sent at most once."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError

from drumbeat.backends.redis.connection.address import Address, Credentials
from drumbeat.backends.redis.connection.library import make_guided_pool, make_pool
from drumbeat.backends.redis.connection.scripts import Script
from drumbeat.backends.redis.connection.sentinels import Sentinels

CONNECT_WITHIN = 2.0
"""Seconds that a server has to accept a connection."""
ANSWER_WITHIN = 5.0
"""Seconds that a server has to answer, unless the caller has a shorter time-out."""
MOST_CALLS = 16
"""Calls at the same time; each has a connection of its own."""


class Client:
    """A pool of connections to the primary, and the Sentinels that are asked for it, if any."""

    def __init__(self, address: Address) -> None:
        common: dict[str, object] = {
            "socket_connect_timeout": CONNECT_WITHIN,
            # Callers have their own time-outs. That of the library can swallow a cancellation while
            # it sends, because it uses `asyncio.wait_for`.
            "socket_timeout": None,
            "retry": Retry(NoBackoff(), 0),  # an unanswered command may have been executed
            "protocol": 3,
        }
        if address.tls:
            common |= {"ssl": True, **address.files}
        options = {**common, **_named(address.credentials), "db": address.database}
        self._sentinels: Sentinels | None = None
        if address.primary is not None:
            asking = {**common, **_named(address.sentinel_credentials)}
            self._sentinels = Sentinels(address, asking)
            self.pool = make_guided_pool(address.primary, self._sentinels, options)
        elif address.socket is not None:
            self.pool = make_pool(unix_socket_path=address.socket, **options)
        else:
            host, port = address.hosts[0]
            self.pool = make_pool(host=host, port=port, **options)
        self.pool.set_response_callback("XREADGROUP", _as_sent)
        self._room = asyncio.Semaphore(MOST_CALLS)

    async def command(self, *words: str | bytes | int) -> Any:
        async with self._room, asyncio.timeout(ANSWER_WITHIN):
            return await self.pool.execute_command(*words)

    async def wait_for(self, seconds: float, *words: str | bytes | int) -> Any:
        """Run a command that blocks for so long at most, on a connection of its own."""
        async with asyncio.timeout(seconds + ANSWER_WITHIN):
            return await self.pool.execute_command(*words)

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
        await self.pool.aclose()
        if self._sentinels is not None:
            await self._sentinels.close()


def _as_sent(response: object, **_options: object) -> object:
    return response


def _named(credentials: Credentials) -> dict[str, object]:
    return {"username": credentials.username, "password": credentials.password}
