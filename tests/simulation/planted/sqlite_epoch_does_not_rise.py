"""On SQLite a new term takes over the fence at the old epoch."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import NODES
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S6"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with patched(NODES, "take_fence", "fence.epoch + 1", "fence.epoch"):
        yield
