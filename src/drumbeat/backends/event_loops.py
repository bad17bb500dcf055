"""Calling back on the event loop that a caller waits on, from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the calling thread, if one runs there."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def call_on(loop: asyncio.AbstractEventLoop | None, call: Callable[[], object]) -> None:
    """Call it on its loop: at once if that loop runs here or there is none, else soon."""
    if loop is None or loop is running_loop():
        call()
    else:
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits there
            loop.call_soon_threadsafe(call)
