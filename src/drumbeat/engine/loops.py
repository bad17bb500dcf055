"""Event loops: the fastest that is installed, for a node that serves HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes a loop of uvloop; None: it is not installed, and Python's own has to do."""
    try:
        import uvloop  # noqa: PLC0415 - part of an extra, and not on every system
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop
