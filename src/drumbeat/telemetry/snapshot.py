"""Counts of jobs per queue, read from the store through a cache.

However many callers ask, the store is read once in a few seconds, and nobody waits long for a
store that does not answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from drumbeat.model.fleet.node import NodeRecord
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import QueueRecord, Queues
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store

Answer: TypeAlias = tuple[Queues, Sequence[NodeRecord]]

FRESH_FOR = 5.0
"""Seconds for which a snapshot, or the failure to take one, is kept."""
TIMEOUT = 1.0
"""Seconds that the store has to answer."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The queues at one moment."""

    queues: tuple[QueueRecord, ...]
    as_of: datetime
    """By the store's clock."""
    skew: timedelta
    """How far this node's clock was ahead of the store's."""
    served: frozenset[str] = frozenset()
    """The queues that live nodes serve."""

    def current(self, status: Status) -> int:
        return sum(queue.counts.get(status, 0) for queue in self.queues)

    def ever(self, status: Status) -> int:
        """Jobs of all queues that ended with this status, including pruned ones."""
        return sum(queue.totals.get(status, 0) for queue in self.queues)

    @property
    def dispatched(self) -> int:
        """Jobs that a worker runs or has run to an end."""
        ended = self.ever(Status.COMPLETED) + self.ever(Status.FAILED)
        return ended + self.current(Status.RUNNING)


class SnapshotCache:
    """Keeps the latest snapshot."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = asyncio.Lock()
        self._taken_at: float | None = None
        self.latest: Snapshot | None = None
        """None: the store did not answer, or was not asked yet."""
        self.claimed_at: datetime | None = None
        """When any node last claimed a job, as far as nodes reported it, also those that left."""

    @property
    def asked(self) -> bool:
        return self._taken_at is not None

    async def refresh(self) -> None:
        """Take a snapshot, unless the latest is fresh. Never raises, never waits long."""
        async with self._lock:
            now = self._clock.elapsed()
            if self._taken_at is None or now - self._taken_at >= FRESH_FOR:
                self.latest = await self._take()
                self._taken_at = self._clock.elapsed()

    async def _take(self) -> Snapshot | None:
        before = self._clock.now()
        try:
            answer = await self._ask_with_timeout()
        except Exception:  # noqa: BLE001 - any error means that there is no snapshot
            return None
        if answer is None:
            return None
        local = before + (self._clock.now() - before) / 2
        queues, nodes = answer
        served = (name for record in nodes if record.alive for name in record.node.queues)
        claims = (self.claimed_at, *(record.node.metrics.last_claim_at for record in nodes))
        self.claimed_at = max((claim for claim in claims if claim is not None), default=None)
        return Snapshot(
            queues.queues,
            queues.as_of,
            local - queues.as_of,
            frozenset(served),
        )

    async def _ask(self) -> Answer:
        return await self._store.queues.list(), await self._store.nodes.list()

    async def _ask_with_timeout(self) -> Answer | None:
        """The store's answer; None: it did not come in time."""
        asking = asyncio.ensure_future(self._ask())
        asking.add_done_callback(_ignore_error)
        late = asyncio.Event()
        waiting = asyncio.ensure_future(late.wait())
        alarm = self._clock.call_later(TIMEOUT, late.set)
        try:
            await asyncio.wait([asking, waiting], return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            alarm.cancel()
            waiting.cancel()
            asking.cancel()  # without waiting for it: the driver may take long to cancel


def _ignore_error(asking: asyncio.Future[Answer]) -> None:
    if not asking.cancelled():
        asking.exception()  # marks a late error as retrieved
