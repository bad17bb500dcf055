"""Instances without a common store advance the shared cursor without comparing it."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from drumbeat.engine.in_process import shared_cursor as cursor
from drumbeat.engine.in_process.shared_cursor import KEY, CursorPosition, SharedCursor

CAUGHT_BY = {"S1"}
FOUND_AT = 94


async def move(self: SharedCursor, mark: CursorPosition) -> CursorPosition | None:
    entry = await self._coordinator.configuration.put(KEY, cursor._text(mark))
    return replace(mark, revision=entry.revision)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(SharedCursor, "move", move):
        yield
