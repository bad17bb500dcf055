"""Time-outs by the injected clock, and telling one cancellation from another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from drumbeat.ports.clock import Clock


def is_own_cancellation(error: BaseException) -> bool:
    """Whether the error is the cancellation of this task.

    A backend or a listener may leak the cancellation of something else: that is an error.
    """
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


@asynccontextmanager
async def timeout_after(clock: Clock, seconds: float) -> AsyncGenerator[None]:
    """Cancel the body after this many seconds and raise `TimeoutError` instead."""
    task = asyncio.current_task()
    assert task is not None, "a time-out needs a task to cancel"
    before = task.cancelling()  # a body that swallowed a cancellation must still time out
    expired = timed_out = False

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    alarm = clock.call_later(seconds, expire)
    try:
        yield
    except asyncio.CancelledError:
        # Only our own cancellation becomes a time-out; one from outside propagates.
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
