"""A node's death ignores the attempt limit, so a job that kills its node kills all nodes."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.model.jobs.job import Attempt
from drumbeat.rules.jobs import retry_decision

CAUGHT_BY = {"S15"}
FOUND_AT = 2


def has_attempts_left(attempt: Attempt) -> bool:
    return True


@contextmanager
def planted() -> Generator[None]:
    with patch.object(retry_decision, "_has_attempts_left", has_attempts_left):
        yield
