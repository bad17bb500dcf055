"""Types for the parts of the redis library that are used here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from redis import asyncio as library
from redis.asyncio import sentinel


class Channel(Protocol):
    """A connection that receives published messages."""

    async def subscribe(self, channel: str) -> None: ...

    async def get_message(self, *, timeout: float | None) -> Mapping[str, object] | None:
        """The next message; the time-out None waits for it."""
        ...

    async def ping(self) -> object: ...

    async def aclose(self) -> None: ...


class Pool(Protocol):
    """Connections to one server."""

    async def execute_command(self, *words: str | bytes | int) -> Any: ...

    def pubsub(self, *, push_handler_func: Callable[[object], Awaitable[object]]) -> Channel: ...

    def set_response_callback(self, command: str, callback: Callable[..., object]) -> None: ...

    async def aclose(self) -> None: ...


class Guide(Protocol):
    """Knows which server is the primary."""

    async def discover_master(self, name: str) -> tuple[str, int]: ...


make_pool: Callable[..., Pool] = getattr(library, "Redis")  # noqa: B009 - sheds the library's types
_make_guided: Any = getattr(sentinel, "SentinelConnectionPool")  # noqa: B009 - as above
_pool_of: Callable[[Any], Pool] = getattr(library.Redis, "from_pool")  # noqa: B009 - as above


def make_guided_pool(name: str, guide: Guide, options: Mapping[str, object]) -> Pool:
    """Connections to the server that is the primary when they are opened."""
    return _pool_of(_make_guided(name, guide, **options))
