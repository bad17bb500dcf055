"""A draining node gives up leadership, and continues to claim jobs."""

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.working.worker import Worker

CAUGHT_BY = {"S20"}
FOUND_AT = 3


def take_on(self: Worker, reason: str) -> None:
    """Nothing."""


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Worker, "stop_taking", take_on):
        yield
