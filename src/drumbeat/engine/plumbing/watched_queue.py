"""The watched queue: a queue whose failures cost nothing but time.

The store has committed a job before its ticket is published, so a failed publication never fails a
submission. It is reported as an outage, once. While the outage lasts, the queue is tried once per
`AGAIN`, so that callers do not all wait for a server that does not answer; other tickets are
dropped, since the workers then act on the hints of the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.time_outs import is_own_cancellation, timeout_after
from drumbeat.model import events
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.outage import Outage
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket
from drumbeat.model.jobs.ticket_counts import TicketCounts
from drumbeat.ports.clock import Clock
from drumbeat.ports.queue import Queue

PATIENCE = 1.0
"""Seconds that the queue has to accept tickets."""
AGAIN = 1.0
"""Seconds between two tries to publish during an outage."""


class WatchedQueue:
    """Forwards to the queue, counts, and emits `QueueFailed` and `QueueAnswered`."""

    carries = True

    def __init__(self, queue: Queue, bus: Bus, clock: Clock) -> None:
        self._queue = queue
        self._bus = bus
        self._clock = clock
        self._try_at = 0.0
        self.outage: Outage | None = None
        """The present outage; None: the last call was answered."""
        self.counts = TicketCounts()

    async def open(self) -> None:
        """Open the queue. One that does not answer is reported, and tried again by its users."""
        try:
            await self._queue.open()
        except Unavailable as error:
            self._failed(error)

    async def close(self) -> None:
        await self._queue.close()

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        """Publish if the queue answers in time. It never raises."""
        if not tickets:
            return
        if self.outage is not None and self._clock.elapsed() < self._try_at:
            self.counts.dropped += len(tickets)
            return
        self._try_at = self._clock.elapsed() + AGAIN
        try:
            async with timeout_after(self._clock, PATIENCE):
                await self._queue.publish(tickets)
        except (Exception, asyncio.CancelledError) as error:
            if is_own_cancellation(error):
                raise
            self.counts.dropped += len(tickets)
            self._try_at = self._clock.elapsed() + AGAIN
            self._failed(error)
            return
        self.counts.published += len(tickets)
        self._answered()

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        try:
            if self.outage is not None:  # receiving may take long, also when it succeeds
                await self._queue.count()
                self._answered()
            tickets = await self._queue.receive(queues, by, limit, done)
        except Exception as error:
            self._failed(error)
            raise
        self.counts.received += len(tickets)
        self._answered()
        return tickets

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        await self._queue.acknowledge(tickets, by)

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        """Reclaim; 0 if the queue does not answer."""
        try:
            async with timeout_after(self._clock, PATIENCE):
                reclaimed = await self._queue.reclaim(idle, limit)
        except Exception as error:  # noqa: BLE001 - whatever it is, the store has the jobs
            self._failed(error)
            return 0
        self.counts.reclaimed += reclaimed
        self._answered()
        return reclaimed

    async def count(self) -> int:
        return await self._queue.count()

    def _failed(self, error: BaseException) -> None:
        outage = self.outage
        self.outage = outage.then(error) if outage else Outage(error, self._clock.now(), 1)
        self._bus.emit(events.QueueFailed(error, self.outage.since, self.outage.failures))

    def _answered(self) -> None:
        outage, self.outage = self.outage, None
        if outage is not None:
            self._bus.emit(events.QueueAnswered(outage.since, outage.failures))
