"""Names of queues that submitters over HTTP may create: a bounded number.

Every look at the queues, every scrape and every event stream pays for each queue that has or had
jobs. Code may name as many as it likes. A caller over HTTP may use any queue that exists, that a
live node serves, or that the app names; and new ones until there are `MOST_QUEUES`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from math import inf

from drumbeat.api.problem import Problem
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store

MOST_QUEUES = 1_000
FRESH = 5.0
"""Seconds for which the names that the store has told stand."""


class QueueNames:
    """The names that are known, and how many more there may be.

    Several servers do not ask each other: each may admit new names for as long as its last look at
    the store stands, so that there can be a few more than the limit.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = asyncio.Lock()
        self._known: set[str] = set()
        self._looked_at = -inf

    async def admit(self, names: Iterable[str]) -> None:
        """Let jobs be submitted to these queues; a `Problem` if there would be too many."""
        new = set(names) - self._known
        if not new:
            return
        async with self._lock:
            if self._clock.elapsed() - self._looked_at >= FRESH:
                self._known = await self._look()
                self._looked_at = self._clock.elapsed()
            new -= self._known
            if new and len(self._known) + len(new) > MOST_QUEUES:
                rule = f"at most {MOST_QUEUES:,} queues"
                raise Problem(
                    422,
                    "too-many-queues",
                    f"queue {min(new)!r} would be new, and there are {len(self._known):,} queues "
                    f"already: callers over HTTP may create {rule}; use one that exists",
                    field="queue",
                    rule=rule,
                )
            self._known |= new

    async def _look(self) -> set[str]:
        """The queues that the store has, and those that live nodes serve."""
        seen, nodes = await self._store.queues.list(), await self._store.nodes.list()
        served = {name for each in nodes if each.alive for name in each.node.queues}
        return served.union(record.name for record in seen.queues)
