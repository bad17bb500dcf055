"""Hints: look, and look again as soon as there is news."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from drumbeat.coordinators.consul.client import Looked
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock

Seen = TypeVar("Seen")


PAUSE = 0.2
"""Seconds between a look that failed and the next one."""


@dataclass(frozen=True, slots=True)
class Interest(Generic[Seen]):
    """How something is looked at, what is to be seen there, and what of that is news."""

    look: Callable[[int], Awaitable[Looked]]
    """Waits a while for news since an index; zero: does not wait."""
    seen_in: Callable[[Looked], Seen]
    is_news: Callable[[Seen | None, Seen], bool]
    """Of what was told last, None at first, and what is seen now."""


class Hints(Generic[Seen]):
    """Waits only while it is asked, and so leaves nothing behind when nobody asks any more.

    The first look raises `Unavailable` if Consul is not there. After it an outage is waited out.
    """

    def __init__(self, clock: Clock, interest: Interest[Seen]) -> None:
        self._clock = clock
        self._interest = interest
        self._told: Seen | None = None
        self._index: int | None = None

    def __aiter__(self) -> AsyncIterator[Seen]:
        return self

    async def __anext__(self) -> Seen:
        while True:
            try:
                looked = await self._interest.look(self._index or 0)
            except Unavailable:
                if self._index is None:
                    raise
                await self._clock.sleep(PAUSE)
                continue
            self._index = looked.index
            seen = self._interest.seen_in(looked)
            if self._interest.is_news(self._told, seen):
                self._told = seen
                return seen
