"""Event loops: the fastest installed one, for a node that serves HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """A factory of uvloop loops; None if uvloop is not installed."""
    try:
        import uvloop  # noqa: PLC0415 - part of an extra, and not on every system
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop
