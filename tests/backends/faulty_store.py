"""A store one of whose writes goes wrong: it is never sent, or happens and is not answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from drumbeat.model.errors import Unavailable
from drumbeat.ports.store import Store

Write: TypeAlias = Callable[[], Awaitable[Any]]
Strike: TypeAlias = Callable[[Write], Awaitable[Any]]
"""What becomes of the write that is struck."""

WRITES = {
    "jobs": frozenset({"insert", "take", "settle", "reap", "cancel", "promote", "reopen"}),
    "schedules": frozenset({"put", "commit", "backfill"}),
    "nodes": frozenset({"beat", "leave"}),
    "fence": frozenset({"claim"}),
}


async def never_sent(write: Write) -> Any:
    """The connection was gone before it was asked."""
    del write
    raise Unavailable("the write was never sent")


async def answer_lost(write: Write) -> Any:
    """The store did it, and nobody heard of that."""
    await write()
    raise Unavailable("the answer to the write was lost")


@dataclass(frozen=True)
class Target:
    """The write that is struck: the so-and-so-manyth of all, or of its kind."""

    number: int
    kind: str | None = None

    def is_last_of(self, writes: Sequence[str]) -> bool:
        """Whether the last of these writes is the one."""
        if self.kind is None:
            return len(writes) == self.number
        return writes[-1] == self.kind and writes.count(self.kind) == self.number


class Struck:
    """Counts the writes to a store, and strikes one of them."""

    def __init__(self, store: Store, target: Target, strike: Strike) -> None:
        self._store = store
        self._target = target
        self._strike = strike
        self.hit: str | None = None
        """What was struck, once it was."""
        self.writes: list[str] = []
        """What was written, in order, such as `jobs.insert`."""

    @property
    def store(self) -> Store:
        """The store as its users see it."""
        return cast("Store", _Whole(self, self._store))

    async def write(self, name: str, call: Write) -> Any:
        """Do it, unless it is the one."""
        self.writes.append(name)
        if self.hit is None and self._target.is_last_of(self.writes):
            self.hit = name
            return await self._strike(call)
        return await call()


class _Whole:
    def __init__(self, struck: Struck, store: Store) -> None:
        self._struck = struck
        self._store = store

    def __getattr__(self, name: str) -> Any:
        part = getattr(self._store, name)
        return _Part(self._struck, name, part) if name in WRITES else part


class _Part:
    def __init__(self, struck: Struck, name: str, part: object) -> None:
        self._struck = struck
        self._name = name
        self._part = part

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        if name not in WRITES[self._name]:
            return method

        async def write(*arguments: Any, **keywords: Any) -> Any:
            return await self._struck.write(
                f"{self._name}.{name}", lambda: method(*arguments, **keywords)
            )

        return write
