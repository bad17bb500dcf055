"""The promoter: queues pending jobs whose time has come, and tells the workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from drumbeat.engine.bus import Bus
from drumbeat.engine.service import Service
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import JobStore, Topic

AGAIN = 0.05
"""Seconds after which to look again at what is due by our clock, and not by the store's."""
MOMENT = 0.005
"""Seconds between two looks while one job after the other comes due: what does is one batch."""


@dataclass(frozen=True, slots=True)
class PromoterSettings:
    """How much at once, how long to sleep at most, and when a ticket is taken for lost."""

    batch: int = 1_000
    poll: float | None = 1.0
    republish_after: timedelta = timedelta(seconds=30)


class Promoter(Service):
    """Promotes what is due. It needs no epoch: promoting twice changes nothing."""

    name = "promoter"
    topics = (Topic.TIMES,)

    def __init__(
        self,
        jobs: JobStore,
        queue: Queue,
        settings: PromoterSettings,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._jobs = jobs
        self._queue = queue
        self._settings = settings
        self._republish_at = 0.0

    async def once(self) -> float | None:
        """Promote one batch; return how long nothing will be due."""
        promoted = await self._jobs.promote(self._settings.batch)
        if promoted.tickets:
            await self._queue.publish(promoted.tickets)
        if len(promoted.tickets) == self._settings.batch:
            return 0.0
        pauses = [await self._republish()]
        if self._settings.poll is not None:
            pauses.append(self._settings.poll)
        if promoted.next_at is not None:
            wait = (promoted.next_at - self._runtime.clock.now()).total_seconds()
            # What came due while we asked is not yet a sign of clocks that differ.
            in_step = wait > -AGAIN or bool(promoted.tickets)
            pauses.append(max(wait, MOMENT) if in_step else AGAIN)
        return min(pauses)

    async def _republish(self) -> float:
        now = self._runtime.clock.elapsed()
        if now >= self._republish_at:
            after = self._settings.republish_after
            stale = await self._jobs.stale(after, self._settings.batch)
            if stale.tickets:
                await self._queue.publish(stale.tickets)
            await self._queue.reclaim(after, self._settings.batch)
            self._republish_at = now + after.total_seconds()
        return self._republish_at - now
