"""Whether the store, the coordinator and the queue answer, and who leads if they do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from drumbeat.engine.leading.status import LeadershipStatus
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.errors import CoordinatorUnavailable, Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store

Answer = TypeVar("Answer")

PATIENCE = 1.0
"""Seconds that a backend has to answer."""
FRESH = 1.0
"""Seconds for which a result is reused."""


class BackendCheck(Generic[Answer]):
    """Checks whether a backend answers, at most once within `FRESH` for all callers."""

    def __init__(self, ask: Callable[[], Awaitable[Answer]], clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = asyncio.Lock()
        self._at: float | None = None
        self._fault: str | None = None

    async def fault(self) -> str | None:
        """Why the backend does not answer; None: it does."""
        async with self._lock:
            if not self._is_fresh:
                try:
                    await self._asked()
                except Unavailable as error:
                    return str(error)
            return self._fault

    async def answer(self) -> Answer:
        """The backend's answer. Raises `Unavailable`, and at once if it was missing just now."""
        if self._fault is not None and self._is_fresh:
            raise Unavailable(self._fault)
        return await self._asked()

    @property
    def _is_fresh(self) -> bool:
        return self._at is not None and self._clock.elapsed() - self._at < FRESH

    async def _asked(self) -> Answer:
        try:
            async with timeout_after(self._clock, PATIENCE):
                answer = await self._ask()
        except Exception as error:
            # Whatever it is, the answer is missing.
            self._note(str(error) or type(error).__name__)
            raise Unavailable(self._fault) from error
        self._note(None)
        return answer

    def _note(self, fault: str | None) -> None:
        self._fault, self._at = fault, self._clock.elapsed()


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

    async def leader(self) -> Lease | None:
        """The lease of the leader, as the coordinator has it; None if nobody leads.

        Raises `CoordinatorUnavailable` within a second, and at once during an outage that is known.
        """
        outage = self._leadership.outage
        if outage is not None:
            raise CoordinatorUnavailable(f"the coordinator does not answer: {outage}")
        try:
            return await self._coordinator.answer()
        except Unavailable as error:
            raise CoordinatorUnavailable(f"the coordinator does not answer: {error}") from error

    async def known_leader(self) -> NodeId | None:
        """The node that leads; None if nobody does, or if the coordinator does not answer."""
        try:
            lease = await self.leader()
        except CoordinatorUnavailable:
            return None
        return None if lease is None else lease.holder
