"""A node whose heartbeats fail continues with jobs that have been reassigned."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.working.heartbeat import Heartbeat

CAUGHT_BY = {"S14"}
FOUND_AT = 482


def give_up_never(self: Heartbeat) -> None:
    """Nothing."""


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Heartbeat, "_give_up_in_time", give_up_never):
        yield
