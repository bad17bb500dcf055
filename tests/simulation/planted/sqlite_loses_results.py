"""On SQLite a job that ends forgets what its handler returned."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import JOBS
from simulation.planting import changed

STORE = "sqlite"
CAUGHT_BY = {"S16"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with changed(JOBS, "finish", "ended.result, ended.error", "NULL, ended.error"):
        yield
