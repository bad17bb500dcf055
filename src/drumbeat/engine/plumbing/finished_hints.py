"""Waiting for jobs to finish: the store's hints, within a limit of time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model.errors import WaitTimeout
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store, Topic

LOOK_EVERY = 0.5
"""Seconds between two looks at the store while waiting, when no hint comes."""


@asynccontextmanager
async def finished_hints(
    store: Store, clock: Clock, timeout: float | None, what: str
) -> AsyncGenerator[Callable[[], Awaitable[object]]]:
    """Yield a function that waits until a job may have finished.

    Raises `WaitTimeout`, which says what did not happen, if the body takes longer than this.
    """
    hint = WakeUp(clock)
    unsubscribe = store.subscribe(Topic.FINISHED, hint.set)
    try:
        if timeout is None:
            yield lambda: hint.wait(LOOK_EVERY)
            return
        try:
            async with timeout_after(clock, timeout):
                yield lambda: hint.wait(LOOK_EVERY)
        except TimeoutError:
            raise WaitTimeout(f"{what} within {timeout:g} s") from None
    finally:
        unsubscribe()
