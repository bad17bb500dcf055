"""Hints: look, follow a watch from there, look again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from drumbeat.coordinators.etcd.client import Change, EtcdClient
from drumbeat.coordinators.etcd.transaction import Keys
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock

Seen = TypeVar("Seen")

PAUSE = 0.2
"""Seconds between a watch or a look that failed and the next look."""


@dataclass(frozen=True, slots=True)
class Glance(Generic[Seen]):
    """What was seen, and at which revision of the cluster."""

    seen: Seen
    revision: int


@dataclass(frozen=True, slots=True)
class Interest(Generic[Seen]):
    """What is to be followed, how it is looked at, and what of that is news."""

    keys: Keys
    look: Callable[[], Awaitable[Glance[Seen]]]
    is_news: Callable[[Seen | None, Seen], bool]
    """Of what was told last, None at first, and what is seen now."""
    change: Change = Change.ANY


class Watcher:
    """Follows keys until there may be news."""

    def __init__(self, client: EtcdClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    async def follow(self, interest: Interest[Any], revision: int) -> None:
        """Return after a change since the revision, and now and then in vain."""
        try:
            await self._client.watch(interest.keys, revision, interest.change)
        except Unavailable:  # whoever looks next, perhaps elsewhere, learns what is wrong
            await self.pause()

    async def pause(self) -> None:
        """Give etcd a moment."""
        await self._clock.sleep(PAUSE)


class Hints(Generic[Seen]):
    """Waits only while it is asked, and so leaves nothing behind when nobody asks any more.

    The first look raises `Unavailable` if etcd is not there. After it an outage is waited out.
    """

    def __init__(self, watcher: Watcher, interest: Interest[Seen]) -> None:
        self._watcher = watcher
        self._interest = interest
        self._told: Seen | None = None
        self._revision: int | None = None

    def __aiter__(self) -> AsyncIterator[Seen]:
        return self

    async def __anext__(self) -> Seen:
        while True:
            if self._revision is not None:
                await self._watcher.follow(self._interest, self._revision + 1)
            try:
                glance = await self._interest.look()
            except Unavailable:
                if self._revision is None:
                    raise
                await self._watcher.pause()
                continue
            self._revision = glance.revision
            if self._interest.is_news(self._told, glance.seen):
                self._told = glance.seen
                return glance.seen
