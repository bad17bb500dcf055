"""Instances without a common store move the mark without comparing it first."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from drumbeat.engine import marks
from drumbeat.engine.marks import KEY, Mark, Marks

CAUGHT_BY = {"S1"}
FOUND_AT = 94


async def move(self: Marks, mark: Mark) -> Mark | None:
    entry = await self._coordinator.configuration.put(KEY, marks._text(mark))
    return replace(mark, revision=entry.revision)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Marks, "move", move):
        yield
