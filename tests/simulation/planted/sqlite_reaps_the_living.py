"""On SQLite a node counts as dead 4.5 seconds before its heartbeat expires."""

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.sqlite.store.jobs import job_store
from drumbeat.backends.sqlite.store.sql import NODES
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S14"}
FOUND_AT = 3


@contextmanager
def planted() -> Generator[None]:
    too_many = job_store.LOST.replace("expires_at <= ?", "expires_at <= ? + 4500000")
    assert too_many != job_store.LOST
    with (
        patch.object(job_store, "LOST", too_many),
        patched(NODES, "lives", "expires_at > ?", "expires_at > ? + 4500000"),
    ):
        yield
