"""Startup: opens the backends and starts the node, and waits while the store does not answer.

Only `Unavailable` is retried: it may pass by itself. A `ConfigurationError`, such as a wrong
password, an unknown database or a schema of a newer version, needs a person and is raised at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.time_outs import is_own_cancellation
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import StoreAwaited
from drumbeat.ports.runtime import Runtime

T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
"""Seconds between two tries: twice as many each time, up to this bound."""


class StartAbandoned(Exception):
    """The process was told to stop before the store answered; nothing was started."""


class Startup:
    """One start of a node. `store` is the store's address without its password."""

    def __init__(self, store: str, limit: float, runtime: Runtime, bus: Bus) -> None:
        self._store = store
        self._limit = limit
        self._runtime = runtime
        self._bus = bus
        self._failures = 0
        self._abandoned = False
        self._interruptible: asyncio.Task[Any] | None = None

    def abandon(self) -> None:
        """Stop waiting for the store. A start that has reached the store is finished."""
        self._abandoned = True
        if self._interruptible is not None:
            self._interruptible.cancel()

    async def run(
        self,
        reach: Callable[[], Coroutine[Any, Any, None]],
        begin: Callable[[], Coroutine[Any, Any, T]],
    ) -> T:
        """Reach the store, then begin. Both are retried while the store does not answer.

        Raises `Unavailable` after the limit, and `StartAbandoned` after `abandon`. Only `reach` and
        the pauses between two tries can be abandoned.
        """
        until = self._runtime.clock.elapsed() + self._limit
        while True:
            try:
                await self._unless_abandoned(reach())
                return await begin()
            except Unavailable as error:
                pause = self._pause_after(error, until - self._runtime.clock.elapsed())
            await self._unless_abandoned(self._runtime.clock.sleep(pause))

    def _pause_after(self, error: Unavailable, left: float) -> float:
        if self._limit <= 0:
            raise error
        if left <= 0:
            raise Unavailable(
                f"gave up after waiting {self._limit:g} s for the store: {error}"
            ) from error
        self._failures += 1
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures - 1, 10))
        pause = min(left, longest * (0.5 + self._runtime.random.random() / 2))
        self._bus.emit(StoreAwaited(self._store, error, self._failures, pause, left))
        return pause

    async def _unless_abandoned(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._interruptible = asyncio.ensure_future(work)
        if self._abandoned:
            task.cancel()
        try:
            await task
        except asyncio.CancelledError as error:
            if self._abandoned and not is_own_cancellation(error):
                raise StartAbandoned from None
            raise
        finally:
            self._interruptible = None
