"""The leader's own wall clock, not the store's, decides which node is dead."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.maintenance.reaper import BATCH, Reaper
from drumbeat.model.ids import label_of
from drumbeat.model.jobs.ending import Lost
from drumbeat.rules.jobs.retry_decision import settlement

CAUGHT_BY = {"S14"}
FOUND_AT = 105


async def once(self: Reaper) -> float | None:
    attempts = await self._jobs.lost(BATCH, self._runtime.clock.now())
    await self._jobs.settle(
        [settlement(attempt, Lost(label_of(attempt.node)), 0.5) for attempt in attempts]
    )
    return self._every


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Reaper, "once", once):
        yield
