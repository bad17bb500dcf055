"""Portions: many plans are committed in several steps, and planned while the store writes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

from drumbeat.model.schedules.plan import Plan
from drumbeat.ports.clock import Clock

PORTION = 500
"""Schedules whose plans are committed together."""

T = TypeVar("T")
Written: TypeAlias = list[Plan] | None
"""The plans that were written; None: the term is over."""


class PortionedCommit:
    """Commits plans portion by portion, with at most so many commits under way."""

    def __init__(
        self, commit: Callable[[Sequence[Plan]], Awaitable[Written]], at_once: int, clock: Clock
    ) -> None:
        self._commit = commit
        self._at_once = at_once
        self._clock = clock

    async def run(
        self, items: Sequence[T], planned: Callable[[Sequence[T]], Awaitable[Sequence[Plan]]]
    ) -> Written:
        """Plan each portion of the items, and commit it.

        After an error, or the end of the term, no commit is left under way.
        """
        committed: list[Plan] = []
        writing: deque[asyncio.Task[Written]] = deque()
        try:
            for first in range(0, len(items), PORTION):
                plans = await planned(items[first : first + PORTION])
                if len(writing) == self._at_once and not await _ended(writing, committed):
                    return None
                if not plans:
                    continue
                if not writing and first + PORTION >= len(items):  # nothing is left to plan
                    written = await self._commit(plans)
                    return None if written is None else committed + written
                task = asyncio.create_task(self._written(plans), name="drumbeat-commit")
                writing.append(task)
                await self._clock.sleep(0)  # let it be sent before the next is planned
            while writing:
                if not await _ended(writing, committed):
                    return None
        finally:
            for task in writing:
                task.cancel()
            if writing:
                await asyncio.wait(writing)
        return committed

    async def _written(self, plans: Sequence[Plan]) -> Written:
        return await self._commit(plans)


async def _ended(writing: deque[asyncio.Task[Written]], committed: list[Plan]) -> bool:
    """Wait for the first commit, and add what it wrote. False: the term is over."""
    written = await writing[0]
    writing.popleft()
    if written is None:
        return False
    committed += written
    return True
