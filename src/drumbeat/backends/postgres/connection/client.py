"""The client: the only file that imports asyncpg, which has no types."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, cast

# asyncpg has no types; the protocols below are what we use of it.
import asyncpg  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]


class Record(Protocol):
    """One row, read by position or by name, or unpacked."""

    def __getitem__(self, key: int | str | slice) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def get(self, key: str, default: Any = None) -> Any: ...

    def values(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One connection to a server, for one caller at a time."""

    async def fetch(
        self, query: str, *args: object, timeout: float | None = None
    ) -> list[Record]: ...

    async def fetchrow(
        self, query: str, *args: object, timeout: float | None = None
    ) -> Record | None: ...

    async def fetchval(
        self, query: str, *args: object, column: int = 0, timeout: float | None = None
    ) -> Any: ...

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str: ...

    def transaction(self) -> AbstractAsyncContextManager[object]: ...

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    def add_termination_listener(self, callback: Callable[..., None]) -> None: ...

    def get_server_pid(self) -> int: ...

    def is_closed(self) -> bool: ...

    def is_in_transaction(self) -> bool: ...

    async def close(self, *, timeout: float | None = None) -> None: ...

    def terminate(self) -> None: ...


_connect = cast(
    Callable[..., Awaitable[Connection]],
    asyncpg.connect,  # pyright: ignore[reportUnknownMemberType] - it has no types, as said above
)


_abandoned: set[asyncio.Future[Connection]] = set()
"""Connections that are still being opened although the caller was cancelled."""


async def connect(address: str, **options: object) -> Connection:
    """A new connection.

    If the caller is cancelled, opening goes on until its own time-out: a cancelled asyncpg would
    leave a future behind whose exception nobody retrieves, which asyncio logs.
    """
    opening = asyncio.ensure_future(_connect(address, **options))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        _abandoned.add(opening)
        opening.add_done_callback(_end_abandoned)
        raise


def _end_abandoned(opening: asyncio.Future[Connection]) -> None:
    _abandoned.discard(opening)
    if not opening.cancelled() and opening.exception() is None:
        opening.result().terminate()


def socket_of(connection: Connection) -> int:
    """The descriptor of the socket; -1 if it is closed already."""
    transport: asyncio.Transport | None = cast("Any", connection)._transport  # noqa: SLF001 - it tells nobody else
    found: Any = None if transport is None else transport.get_extra_info("socket")
    return -1 if found is None else int(found.fileno())


ServerError: type[Exception] = asyncpg.PostgresError
"""An error that the server sent."""
ClientError: type[Exception] = asyncpg.InterfaceError
"""The client rejected a call, for instance on a connection that has ended."""
BadAddress: type[Exception] = asyncpg.ClientConfigurationError
"""The client cannot use an address or an option."""
NoSuchHost: type[Exception] = asyncpg.TargetServerAttributeNotMatched
"""None of several hosts accepts writes."""
ProtocolError: type[Exception] = asyncpg.InternalClientError
"""The client lost track of the protocol."""


def sqlstate_of(error: BaseException) -> str:
    """The server's five-character code; empty if the error is not from the server."""
    return getattr(error, "sqlstate", None) or ""
