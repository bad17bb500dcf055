"""Cancellation of calls: the client library may swallow it and return as if nothing had happened.

It does so in about one of twenty calls that are cancelled at a random point (pymongo 4.20). The
task would then go on, although whoever cancelled it waits for its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

ENDS_WITHIN = 0.5
"""Seconds after which a task that was cancelled is cancelled again."""


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task, and again as long as it has not ended."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=ENDS_WITHIN)


@contextmanager
def cancellable() -> Generator[None]:
    """Raise `CancelledError` at the end of the block if the task was cancelled within it."""
    task = asyncio.current_task()
    assert task is not None, "calls are made in a task"
    before = task.cancelling()
    try:
        yield
    except Exception:
        if task.cancelling() > before:
            raise asyncio.CancelledError from None
        raise
    if task.cancelling() > before:
        raise asyncio.CancelledError
