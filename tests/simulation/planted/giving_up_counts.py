"""A handler that ends because its node stops has ended as any other: completed, or failed."""

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.executing.run import Run
from drumbeat.model.jobs.ending import Ending

CAUGHT_BY = {"S21"}
FOUND_AT = 0


def answer(self: Run, ending: Ending) -> Ending:
    return ending


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Run, "answer", answer):
        yield
