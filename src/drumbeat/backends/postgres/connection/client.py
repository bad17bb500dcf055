"""The client: the only file that touches asyncpg, which brings no types of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, cast

# asyncpg has no types; the protocols below are what we use of it.
import asyncpg  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]


class Record(Protocol):
    """One row: by position, by name, or unpacked."""

    def __getitem__(self, key: int | str | slice) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a column; the default if there is no such column."""
        ...

    def values(self) -> Iterator[Any]:
        """The values, in the order of the columns."""
        ...


class Connection(Protocol):
    """One connection to a server, for one caller at a time."""

    async def fetch(self, query: str, *args: object, timeout: float | None = None) -> list[Record]:
        """All rows."""
        ...

    async def fetchrow(
        self, query: str, *args: object, timeout: float | None = None
    ) -> Record | None:
        """The first row."""
        ...

    async def fetchval(
        self, query: str, *args: object, column: int = 0, timeout: float | None = None
    ) -> Any:
        """One value of the first row."""
        ...

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:
        """A statement; without values also a script of many."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[object]:
        """A transaction: committed at the end, rolled back by an error."""
        ...

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None:
        """Listen on a channel."""
        ...

    def add_termination_listener(self, callback: Callable[..., None]) -> None:
        """Be called when the connection has ended."""
        ...

    def get_server_pid(self) -> int:
        """The number of the server's process, as it was told to us."""
        ...

    def is_closed(self) -> bool:
        """Whether it has ended."""
        ...

    def is_in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    async def close(self, *, timeout: float | None = None) -> None:
        """End it in order."""
        ...

    def terminate(self) -> None:
        """End it at once, without a word to the server."""
        ...


_connect = cast(
    Callable[..., Awaitable[Connection]],
    asyncpg.connect,  # pyright: ignore[reportUnknownMemberType] - it has no types, as said above
)


_abandoned: set[asyncio.Future[Connection]] = set()
"""Connections that are still being opened, although their caller was cancelled."""


async def connect(address: str, **options: object) -> Connection:
    """A new connection.

    A caller that is cancelled does not cancel the opening itself, which ends by its own time-out:
    asyncpg would leave a future behind whose exception nobody retrieves, and asyncio logs that.
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


ServerError: type[Exception] = asyncpg.PostgresError
"""What the server itself has said."""
ClientError: type[Exception] = asyncpg.InterfaceError
"""What the client refused to do, for instance on a connection that has ended."""
BadAddress: type[Exception] = asyncpg.ClientConfigurationError
"""An address or an option that the client cannot use."""
NoSuchHost: type[Exception] = asyncpg.TargetServerAttributeNotMatched
"""None of several hosts is what was asked for."""
ProtocolError: type[Exception] = asyncpg.InternalClientError
"""The client lost track of what the server says."""


def sqlstate_of(error: BaseException) -> str:
    """The server's five-letter code; empty if it was not the server that spoke."""
    return getattr(error, "sqlstate", None) or ""
