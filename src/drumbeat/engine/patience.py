"""Patience: time-outs by the injected clock, and telling one cancellation from another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from drumbeat.ports.clock import Clock


def is_told_to_end(error: BaseException) -> bool:
    """Whether the error is the cancellation of this task.

    A backend or a listener may let the cancellation of something else escape: that is an error.
    """
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


@asynccontextmanager
async def within(clock: Clock, seconds: float) -> AsyncGenerator[None]:
    """Cancel the body after so many seconds and raise `TimeoutError` in its place."""
    task = asyncio.current_task()
    assert task is not None, "a time-out needs a task to cancel"
    before = task.cancelling()  # whoever swallowed a cancellation must not lose the time-out too
    expired = timed_out = False

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    alarm = clock.call_later(seconds, expire)
    try:
        yield
    except asyncio.CancelledError:
        # Only a cancellation of our own becomes a time-out; one from outside goes on outwards.
        timed_out = expired and task.cancelling() <= before + 1
        if not timed_out:
            raise
    finally:
        alarm.cancel()
        if expired:
            task.uncancel()
    if timed_out:
        waited = round(seconds, 2)
        raise TimeoutError(f"no answer within {waited:g} s" if waited > 0 else "no time was left")
