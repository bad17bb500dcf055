"""A request to resign names no term, so every later leader resigns as well."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.leading.candidacy import RESIGNED
from drumbeat.engine.leading.hand_over import LOOK_AGAIN, HandOver, request_for

CAUGHT_BY = {"L1", "L5"}
FOUND_AT = 0


async def once(self: HandOver) -> float | None:
    await self._coordinator.open()
    key, _ = request_for(self._term.lease)
    async for entry in self._coordinator.configuration.watch(key):
        if entry is not None:
            self._term.resign(RESIGNED)
            return None
    return LOOK_AGAIN


@contextmanager
def planted() -> Generator[None]:
    with patch.object(HandOver, "once", once):
        yield
