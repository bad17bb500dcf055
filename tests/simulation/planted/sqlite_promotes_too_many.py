"""On SQLite pending jobs leave the list of pending jobs before they are queued."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import JOBS
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S13", "L4"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with patched(
        JOBS, "delete_pending_through", "(run_at, id) <= (?, ?)", "(run_at - 1000000, id) <= (?, ?)"
    ):
        yield
