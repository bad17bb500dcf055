"""The bound on the number of queues that requests may create.

Every read of the queues, every scrape and every event stream pays for each queue that has or had
jobs. Code may name any number of queues. A request may use each queue that exists, that a live
node serves, or that the app names, and new ones until there are `MOST_QUEUES`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from math import inf

from drumbeat.model.errors import TooManyQueues
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store

MOST_QUEUES = 1_000
FRESH = 5.0
"""Seconds for which the names that were read from the store are used."""


class QueueNames:
    """The known names, and how many more there may be.

    Servers do not ask each other: each admits new names by its last read of the store, so that
    there can be a few more than the limit.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = asyncio.Lock()
        self._known: set[str] = set()
        self._read_at = -inf

    async def admit(self, names: Iterable[str]) -> None:
        """Accept jobs for these queues; `TooManyQueues` if there would be too many."""
        new = set(names) - self._known
        if not new:
            return
        async with self._lock:
            if self._clock.elapsed() - self._read_at >= FRESH:
                self._known = await self._read()
                self._read_at = self._clock.elapsed()
            new -= self._known
            if new and len(self._known) + len(new) > MOST_QUEUES:
                rule = f"at most {MOST_QUEUES:,} queues"
                raise TooManyQueues(
                    f"queue {min(new)!r} would be new, and there are {len(self._known):,} queues "
                    f"already: requests may create {rule}; use one that exists",
                    rule=rule,
                )
            self._known |= new

    async def _read(self) -> set[str]:
        """The queues in the store, and those that live nodes serve."""
        seen, nodes = await self._store.queues.list(), await self._store.nodes.list()
        served = {name for each in nodes if each.alive for name in each.node.queues}
        return served.union(record.name for record in seen.queues)
