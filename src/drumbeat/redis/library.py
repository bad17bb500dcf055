"""Library: what we use of the Redis client, which says little about its own types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from redis import asyncio as library
from redis.asyncio import sentinel


class Channel(Protocol):
    """A connection that hears what is published."""

    async def subscribe(self, channel: str) -> None:
        """Ask to hear a channel."""
        ...

    async def get_message(self, *, timeout: float | None) -> Mapping[str, object] | None:
        """What is said next; the time-out None waits for it."""
        ...

    async def ping(self) -> object:
        """Ask the server to say something."""
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...


class Pool(Protocol):
    """Connections to one server."""

    async def execute_command(self, *words: str | bytes | int) -> Any:
        """Run one command."""
        ...

    def pubsub(self, *, push_handler_func: Callable[[object], Awaitable[object]]) -> Channel:
        """A connection to hear by."""
        ...

    async def aclose(self) -> None:
        """Close all of them."""
        ...


class Guide(Protocol):
    """Knows which server is the primary."""

    async def discover_master(self, name: str) -> tuple[str, int]:
        """Its host and port now."""
        ...


make_pool: Callable[..., Pool] = getattr(library, "Redis")  # noqa: B009 - sheds the library's types
_make_guided: Any = getattr(sentinel, "SentinelConnectionPool")  # noqa: B009 - as above
_pool_of: Callable[[Any], Pool] = getattr(library.Redis, "from_pool")  # noqa: B009 - as above


def make_guided_pool(name: str, guide: Guide, options: Mapping[str, object]) -> Pool:
    """Connections that each go to whoever is the primary when they are made."""
    return _pool_of(_make_guided(name, guide, **options))
