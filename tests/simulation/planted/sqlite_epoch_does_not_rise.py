"""On SQLite a new term takes the fence over at the old epoch."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import NODES
from simulation.planting import changed

STORE = "sqlite"
CAUGHT_BY = {"S6"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with changed(NODES, "take_fence", "fence.epoch + 1", "fence.epoch"):
        yield
