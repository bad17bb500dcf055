"""Hints: iterators that read keys, wait for a change since then, and read them again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock

State = TypeVar("State")

PAUSE = 0.2
"""Seconds between a read that failed and the next one."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[State]):
    """The state of some keys, and the server's revision at which it was read."""

    state: State
    revision: int


Read: TypeAlias = Callable[[int | None], Awaitable[Reading[State]]]
"""Waits a while for a change since the revision, then reads; None: reads at once."""


def differs(before: Reading[State] | None, now: Reading[State]) -> bool:
    return before is None or before.state != now.state


def is_vacant(_before: Reading[bool] | None, now: Reading[bool]) -> bool:
    """A name may have been held and released between two reads that both find it vacant."""
    return now.state


class Changes(Generic[State]):
    """Yields each state that is news: by default the first one, and each that differs.

    It waits only while it is awaited, so an iterator that is no longer used leaves nothing behind.
    The first read raises `Unavailable` if the server is away; later it waits until it is back.
    """

    def __init__(
        self,
        clock: Clock,
        read: Read[State],
        is_news: Callable[[Reading[State] | None, Reading[State]], bool] = differs,
    ) -> None:
        self._clock = clock
        self._read = read
        self._is_news = is_news
        self._last: Reading[State] | None = None

    def __aiter__(self) -> AsyncIterator[State]:
        return self

    async def __anext__(self) -> State:
        while True:
            before = self._last
            try:
                now = await self._read(None if before is None else before.revision)
            except Unavailable:
                if before is None:
                    raise
                await self._clock.sleep(PAUSE)
                continue
            self._last = now
            if self._is_news(before, now):
                return now.state


class Hints(Generic[State]):
    """Changes without their states: only that there was one."""

    def __init__(self, changes: Changes[State]) -> None:
        self._changes = changes

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        await anext(self._changes)
