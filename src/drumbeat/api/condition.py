"""The condition of a node: whether it runs, and whether what stands behind it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum

from drumbeat.engine.patience import within
from drumbeat.engine.standing import Standing
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store

PATIENCE = 1.0
"""Seconds that a backend has to answer."""
FRESH = 1.0
"""Seconds for which an answer stands: however many ask, a backend is asked once."""


class Phase(StrEnum):
    """Where a node is between its start and its end."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


class Look:
    """One question to a backend, asked by many and put now and then."""

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
            async with within(self._clock, PATIENCE):
                await self._ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is missing
            return str(error) or type(error).__name__
        return None


class Condition:
    """What a node can say of the store and the coordinator."""

    def __init__(self, store: Store, standing: Standing, clock: Clock) -> None:
        self._store = Look(store.now, clock)
        self._coordinator = Look(standing.leader, clock)
        self._standing = standing

    async def store_fault(self) -> str | None:
        """Why the store does not answer; None: it does."""
        return await self._store.fault()

    async def coordinator_fault(self) -> str | None:
        """Why the coordinator does not answer, to the election or to us; None: it does."""
        outage = self._standing.outage
        return str(outage) if outage is not None else await self._coordinator.fault()
