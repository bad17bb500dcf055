"""Waiting for jobs to finish: the store's hints, within a limit of time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.time.duration import Duration, seconds_of
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store, Topic

LOOK_EVERY = 0.5
"""Seconds between two looks at the store while waiting, when no hint comes."""


@asynccontextmanager
async def finished_hints(
    store: Store, clock: Clock, timeout: Duration | None, what: str
) -> AsyncGenerator[Callable[[], Awaitable[object]]]:
    """Yield a function that waits until a job may have finished.

    Raises `WaitTimeout`, which says what did not happen, if the body takes longer than this.
    """
    hint, seconds = WakeUp(clock), seconds_of(timeout)
    unsubscribe = store.subscribe(Topic.FINISHED, hint.set)
    try:
        if seconds is None:
            yield lambda: hint.wait(LOOK_EVERY)
            return
        try:
            async with timeout_after(clock, seconds):
                yield lambda: hint.wait(LOOK_EVERY)
        except TimeoutError:
            raise WaitTimeout(f"{what} within {seconds:g} s") from None
    finally:
        unsubscribe()
