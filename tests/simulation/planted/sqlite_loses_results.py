"""On SQLite a job that ends loses its result."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import JOBS
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S16"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with patched(JOBS, "finish", "ended.result, ended.error", "NULL, ended.error"):
        yield
