"""The stored queue: a queue without tickets, on the hints of the store.

Nothing is published. A receiver waits until the store hints that a job may be ready, and returns no
tickets: its worker then looks at the store. Hints are counted, and each receiver remembers the
count that it saw last. So a hint that comes while it is busy makes its next call return at once,
and a hundred of them make it return once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.forks import renew_in_children
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket

Subscribe: TypeAlias = Callable[[Callable[[], None]], Callable[[], None]]
"""Takes the call to make at each hint, and returns the call that ends the subscription."""


class StoredQueue:
    """Wakes the receivers of one event loop at the store's hints."""

    def __init__(self, subscribe: Subscribe) -> None:
        self._subscribe = subscribe
        self._unsubscribe: Callable[[], None] | None = None
        self._hints = 0
        self._seen: dict[NodeId, int] = {}
        self._waiters: set[asyncio.Event] = set()
        renew_in_children(self._renew)

    carries = False

    async def open(self) -> None:
        """Listen to the store, on this loop."""
        if self._unsubscribe is None:
            self._unsubscribe = self._subscribe(self._hint)

    async def close(self) -> None:
        """Stop listening, and wake the receivers."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._hint()

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        """Do nothing: the store has the jobs."""

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        del queues, limit, done  # the store knows what this receiver takes
        woken = asyncio.Event()
        self._waiters.add(woken)
        try:
            while self._hints == self._seen.get(by, 0):
                await woken.wait()
                woken.clear()
            self._seen[by] = self._hints
            return ()
        finally:
            self._waiters.discard(woken)

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        """Do nothing: there are no tickets."""

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        """Do nothing: there are no tickets."""
        del idle, limit
        return 0

    async def count(self) -> int:
        """None, ever."""
        return 0

    def _renew(self) -> None:
        """Listen again once opened: the store has forgotten its listeners too."""
        self._unsubscribe = None
        self._seen, self._waiters = {}, set()

    def _hint(self) -> None:
        self._hints += 1
        for woken in self._waiters:
            woken.set()
