"""Health-gated electors: only a healthy instance leads."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from drumbeat.electors.wrapped import WrappedElector
from drumbeat.ports.elector import Elector
from drumbeat.telemetry.log_lines import LOGGER

HealthCheck: TypeAlias = Callable[[], bool | Awaitable[bool]]

UNHEALTHY = "the instance is not healthy"


def health_gated(elector: Elector, check: HealthCheck) -> WrappedElector:
    """Lead only while the check says that this instance is healthy.

    When it says no, or fails, the instance resigns, so that another can lead, and campaigns again
    once it is healthy. If the elector cannot resign, its answer is no meanwhile.
    """
    return _HealthGated(elector, check)


class _HealthGated(WrappedElector):
    def __init__(self, elector: Elector, check: HealthCheck) -> None:
        super().__init__(elector)
        self._check = check
        self._well = True

    async def is_leader(self) -> bool:
        problem = await self._problem()
        if problem is not None:
            if self._well:
                self._well = False
                LOGGER.warning("%s", f"Not healthy, so not leading: {problem}")
                await self.resign(UNHEALTHY)
            return False
        if not self._well:
            self._well = True
            LOGGER.info("Healthy again, standing for election")
            await self.campaign()
        return await self._elector.is_leader()

    async def elect(self) -> bool:
        if await self._problem() is None:
            self._well = True
            await self.campaign()
        return await self.is_leader()

    async def _problem(self) -> str | None:
        try:
            answer = self._check()
            well = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - a check that fails says that something is wrong
            return f"the check failed with {error!r}"
        return None if well else "the check said no"
