"""Cached electors: an answer is reused for a while."""

from __future__ import annotations

import asyncio

from drumbeat.electors.wrapped import WrappedElector, positive
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.ports.clock import Clock
from drumbeat.ports.elector import Elector


def cached(
    elector: Elector, ttl: float | str = 1.0, *, clock: Clock | None = None
) -> WrappedElector:
    """Reuse the elector's answer for `ttl`, for all callers.

    The TTL counts from before the question, so a slow answer is not trusted for longer. An error
    is raised and not kept. A leader that lost may consider itself the leader for a TTL longer.
    """
    return _Cached(elector, positive("ttl", ttl), clock or SystemClock())


class _Cached(WrappedElector):
    def __init__(self, elector: Elector, ttl: float, clock: Clock) -> None:
        super().__init__(elector)
        self._ttl = ttl
        self._clock = clock
        self._asking = asyncio.Lock()
        self._answer: tuple[bool, float] | None = None
        """The last answer, and when it was asked for."""

    async def is_leader(self) -> bool:
        async with self._asking:
            if self._answer is not None:
                leads, asked_at = self._answer
                if self._clock.elapsed() - asked_at < self._ttl:
                    return leads
            self._answer = None
            asked_at = self._clock.elapsed()
            leads = await self._elector.is_leader()
            self._answer = (leads, asked_at)
            return leads

    async def elect(self) -> bool:
        self._answer = None
        return await super().elect()

    async def resign(self, reason: str = "resigned") -> None:
        await super().resign(reason)
        self._answer = None

    def step_down(self, reason: str) -> None:
        super().step_down(reason)
        self._answer = None
