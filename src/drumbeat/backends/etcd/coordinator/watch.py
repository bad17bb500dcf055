"""Reading keys after a watch: how the etcd coordinator's iterators wait for a change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from drumbeat.backends.etcd.connection.client import Change, EtcdClient
from drumbeat.backends.etcd.connection.messages import Ranged
from drumbeat.backends.etcd.connection.transaction import Keys
from drumbeat.backends.http.hints import PAUSE, Read, Reading
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock

State = TypeVar("State")


class Watcher:
    """Follows keys with a watch and reads them when it ends."""

    def __init__(self, client: EtcdClient, clock: Clock) -> None:
        self.clock = clock
        self._client = client

    def reader(
        self, keys: Keys, state_of: Callable[[Ranged], State], change: Change = Change.ANY
    ) -> Read[State]:
        """A function that waits for a change of the keys since a revision, and then reads them."""

        async def read(since: int | None) -> Reading[State]:
            if since is not None:
                await self._wait(self._client.watch(keys, since + 1, change))
            ranged = await self._client.range(keys)
            return Reading(state_of(ranged), ranged.header.revision)

        return read

    async def _wait(self, watch: Awaitable[object]) -> None:
        try:
            await watch
        except Unavailable:  # the read that follows, perhaps elsewhere, raises what is wrong
            await self.clock.sleep(PAUSE)
