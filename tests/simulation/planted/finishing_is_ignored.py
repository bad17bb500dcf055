"""A handler that has finished although its node stops is given back, and runs twice."""

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.tasks.context import Context

CAUGHT_BY = {"S21"}
FOUND_AT = 22


def finished(self: Context) -> None:
    """Nothing."""


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Context, "finished", finished):
        yield
