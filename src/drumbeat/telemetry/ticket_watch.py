"""TicketWatch: the tickets of a queue that carries some, for a scrape."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Protocol

from drumbeat.model.jobs.ticket_counts import TicketCounts
from drumbeat.ports.clock import Clock
from drumbeat.telemetry import families
from drumbeat.telemetry.samples import Sample

FRESH_FOR = 5.0
"""Seconds for which an answer, or the lack of one, is kept."""
TIMEOUT = 1.0
"""Seconds that the queue has to answer."""


class CountedQueue(Protocol):
    """A queue that counts what this process does with tickets."""

    @property
    def counts(self) -> TicketCounts: ...

    async def count(self) -> int:
        """How many tickets there are."""
        ...


class TicketWatch:
    """Asks the queue at most once in a few seconds, however many scrapes come."""

    def __init__(self, queue: CountedQueue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._lock = asyncio.Lock()
        self._asked_at: float | None = None
        self._waiting: int | None = None

    async def refresh(self) -> None:
        """Never raises, never waits long."""
        async with self._lock:
            now = self._clock.elapsed()
            if self._asked_at is None or now - self._asked_at >= FRESH_FOR:
                self._waiting = await self._ask()
                self._asked_at = self._clock.elapsed()

    async def _ask(self) -> int | None:
        try:
            async with asyncio.timeout(TIMEOUT):
                return await self._queue.count()
        except Exception:  # noqa: BLE001 - any error means that there is no answer
            return None

    def samples(self, republished: int) -> Iterator[Sample]:
        counts = self._queue.counts
        for action, number in (
            ("published", counts.published),
            ("dropped", counts.dropped),
            ("received", counts.received),
            ("republished", republished),
            ("reclaimed", counts.reclaimed),
        ):
            yield Sample(families.TICKETS, number, (action,))
        if self._asked_at is not None:
            yield Sample(families.QUEUE_UP, int(self._waiting is not None))
        if self._waiting is not None:
            yield Sample(families.TICKETS_WAITING, self._waiting)
