"""Trigger evaluation for callers: expensive triggers run in a thread.

The leader's event loop renews its lease and fires ticks, so a caller's trigger may block it only
for a few milliseconds, which is enough for nearly every trigger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from drumbeat.model.errors import TriggerTooExpensive
from drumbeat.model.triggers.steps import Steps

T = TypeVar("T")

ON_THE_LOOP = 1_000
"""Steps that may be taken on the event loop: a few milliseconds."""


async def evaluated(work: Callable[[Steps], T]) -> T:
    """The result of the work: at once if few steps suffice, else from a thread.

    `TriggerTooExpensive` if the whole budget of steps does not suffice.
    """
    try:
        return work(Steps(ON_THE_LOOP))
    except TriggerTooExpensive:
        return await asyncio.to_thread(work, Steps())
