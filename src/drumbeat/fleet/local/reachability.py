"""Whether the store, the coordinator and the queue answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from drumbeat.engine.leading.status import LeadershipStatus
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.ports.clock import Clock
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store

PATIENCE = 1.0
"""Seconds that a backend has to answer."""
FRESH = 1.0
"""Seconds for which a result is reused."""


class BackendCheck:
    """Checks whether a backend answers, at most once within `FRESH` for all callers."""

    def __init__(self, ask: Callable[[], Awaitable[object]], clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = asyncio.Lock()
        self._at: float | None = None
        self._fault: str | None = None

    async def fault(self) -> str | None:
        """Why the backend does not answer; None: it does."""
        async with self._lock:
            if self._at is None or self._clock.elapsed() - self._at >= FRESH:
                self._fault = await self._asked()
                self._at = self._clock.elapsed()
            return self._fault

    async def _asked(self) -> str | None:
        try:
            async with timeout_after(self._clock, PATIENCE):
                await self._ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is missing
            return str(error) or type(error).__name__
        return None


class Reachability:
    """Whether the store, the coordinator and the queue answer this node."""

    def __init__(
        self, store: Store, leadership: LeadershipStatus, queue: Queue, clock: Clock
    ) -> None:
        self._queue = BackendCheck(queue.count, clock)
        self._store = BackendCheck(store.now, clock)
        self._coordinator = BackendCheck(leadership.leader, clock)
        self._leadership = leadership

    async def store_fault(self) -> str | None:
        """Why the store does not answer; None: it does."""
        return await self._store.fault()

    async def coordinator_fault(self) -> str | None:
        """Why the coordinator does not answer the election or us; None: it does."""
        outage = self._leadership.outage
        return str(outage) if outage is not None else await self._coordinator.fault()

    async def queue_fault(self) -> str | None:
        """Why the queue does not answer; None: it does, or the store is the queue."""
        return await self._queue.fault()
