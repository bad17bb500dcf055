"""On SQLite a retried job gets the fence of its last attempt again."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import JOBS
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S12"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with patched(JOBS, "wait_again", "fence = ?", "fence = ? - 1"):
        yield
