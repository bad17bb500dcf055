"""A node never gives back a claim whose answer was lost."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.working.worker import Worker
from drumbeat.model.jobs.job import Hold

CAUGHT_BY = {"S13", "L4"}
FOUND_AT = 6


async def give_back_orphans(self: Worker, known: frozenset[Hold]) -> None:
    """Nothing."""


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Worker, "_give_back_orphans", give_back_orphans):
        yield
