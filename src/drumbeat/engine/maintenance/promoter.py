"""The promoter: queues pending jobs whose time has come, and notifies the workers.

It also ends waiting jobs that have expired, so that they end although no worker asks for them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import inf

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.events import JobsExpired, TicketsRepublished
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import JobStore, Topic

AGAIN = 0.05
"""Seconds to the next pass when a job is due by our clock, but not by the store's."""
MOMENT = 0.005
"""Shortest pause: jobs that come due one after the other are promoted in batches."""
BATCH = 1_000
REPUBLISH_AFTER = timedelta(seconds=30)
"""A ticket that was published this long ago counts as lost."""


class Promoter(Service):
    """Promotes what is due. It needs no epoch: promoting twice changes nothing."""

    name = "promoter"
    topics = (Topic.TIMES,)

    def __init__(
        self, jobs: JobStore, queue: Queue, poll: float | None, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._jobs = jobs
        self._queue = queue
        self._poll = poll
        self._republish_at = 0.0

    async def once(self) -> float | None:
        """Promote one batch; return how long nothing will be due."""
        promoted = await self._jobs.promote(BATCH)
        if promoted.tickets and self._queue.carries:
            await self._queue.publish(promoted.tickets)
        expired = await self._jobs.expire(BATCH)
        if expired.job_ids:
            self._bus.emit(JobsExpired(expired.job_ids))
        if BATCH in (len(promoted.tickets), len(expired.job_ids)):
            return 0.0
        pauses = [
            await self._republish(),
            self._until(promoted.next_at, found=bool(promoted.tickets)),
            self._until(expired.next_at, found=bool(expired.job_ids)),
        ]
        if self._poll is not None:
            pauses.append(self._poll)
        return min(pauses)

    def _until(self, next_at: datetime | None, *, found: bool) -> float:
        if next_at is None:
            return inf
        wait = (next_at - self._runtime.clock.now()).total_seconds()
        # A job that came due during the request does not mean that the clocks differ.
        clocks_agree = wait > -AGAIN or found
        return max(wait, MOMENT) if clocks_agree else AGAIN

    async def _republish(self) -> float:
        now = self._runtime.clock.elapsed()
        if not self._queue.carries:
            return REPUBLISH_AFTER.total_seconds()
        if now >= self._republish_at:
            stale = await self._jobs.stale(REPUBLISH_AFTER, BATCH)
            if stale.tickets:
                await self._queue.publish(stale.tickets)
                self._bus.emit(TicketsRepublished(len(stale.tickets)))
            await self._queue.reclaim(REPUBLISH_AFTER, BATCH)
            self._republish_at = now + REPUBLISH_AFTER.total_seconds()
        return self._republish_at - now
