"""The census: how many jobs stand where, read from the store through a cache.

However many ask, the store is read once in a few seconds, and nobody waits long for one that does
not answer: until it does, there is no census.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.model.job import Status
from drumbeat.model.queue import QueueRecord, Queues
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store

FRESH = 5.0
"""Seconds for which a census, or the failure to take one, stands."""
PATIENCE = 1.0
"""Seconds that the store has to answer."""


@dataclass(frozen=True, slots=True)
class Count:
    """One census."""

    queues: tuple[QueueRecord, ...]
    as_of: datetime
    """By the store's clock."""
    skew: timedelta
    """How far this node's clock was ahead of the store's."""
    served: frozenset[str] = frozenset()
    """The queues that live nodes serve."""

    def standing(self, status: Status) -> int:
        """Jobs of all queues that stand there now."""
        return sum(queue.counts.get(status, 0) for queue in self.queues)

    def ever(self, status: Status) -> int:
        """Jobs of all queues that have ended so, also those that were forgotten since."""
        return sum(queue.totals.get(status, 0) for queue in self.queues)

    @property
    def dispatched(self) -> int:
        """Jobs that a worker has, or has brought to an end."""
        ended = self.ever(Status.COMPLETED) + self.ever(Status.FAILED)
        return ended + self.standing(Status.RUNNING)


class Census:
    """The latest count, and how to take the next."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = asyncio.Lock()
        self._taken_at: float | None = None
        self.latest: Count | None = None
        """None: the store did not answer, or was not asked yet."""
        self.dispatched_at: datetime | None = None
        """When a count last found more jobs dispatched than the one before."""
        self._dispatched: int | None = None

    @property
    def asked(self) -> bool:
        """Whether the store was ever asked."""
        return self._taken_at is not None

    async def refresh(self) -> None:
        """Take a count, unless the latest is fresh. Never raises, never waits long."""
        async with self._lock:
            now = self._clock.elapsed()
            if self._taken_at is None or now - self._taken_at >= FRESH:
                self.latest = await self._count()
                self._taken_at = self._clock.elapsed()
                self._note()

    async def _count(self) -> Count | None:
        before = self._clock.now()
        try:
            answer = await self._answer()
        except Exception:  # noqa: BLE001 - whatever it is, there is no census
            return None
        if answer is None:
            return None
        local = before + (self._clock.now() - before) / 2
        queues, served = answer
        return Count(queues.queues, queues.as_of, local - queues.as_of, served)

    async def _ask(self) -> tuple[Queues, frozenset[str]]:
        queues, nodes = await self._store.queues.list(), await self._store.nodes.list()
        served = (name for record in nodes if record.alive for name in record.node.queues)
        return queues, frozenset(served)

    async def _answer(self) -> tuple[Queues, frozenset[str]] | None:
        """The store's answer; None: it did not come in time."""
        asking = asyncio.ensure_future(self._ask())
        asking.add_done_callback(_forget)
        late = asyncio.Event()
        waiting = asyncio.ensure_future(late.wait())
        alarm = self._clock.call_later(PATIENCE, late.set)
        try:
            await asyncio.wait([asking, waiting], return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            alarm.cancel()
            waiting.cancel()
            asking.cancel()  # and nobody waits for how it takes that

    def _note(self) -> None:
        if self.latest is None:
            return
        dispatched, before = self.latest.dispatched, self._dispatched
        if before is not None and dispatched > before:
            self.dispatched_at = self.latest.as_of
        self._dispatched = dispatched


def _forget(asking: asyncio.Future[tuple[Queues, frozenset[str]]]) -> None:
    if not asking.cancelled():
        asking.exception()  # an error that comes too late is nobody's
