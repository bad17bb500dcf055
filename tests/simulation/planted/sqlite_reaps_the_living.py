"""On SQLite a node is judged dead 4.5 seconds before its heartbeat is over."""

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.sqlite.store.jobs import job_store
from drumbeat.backends.sqlite.store.sql import NODES
from simulation.planting import changed

STORE = "sqlite"
CAUGHT_BY = {"S14"}
FOUND_AT = 2


@contextmanager
def planted() -> Generator[None]:
    too_many = job_store.LOST.replace("expires_at <= ?", "expires_at <= ? + 4500000")
    assert too_many != job_store.LOST
    with (
        patch.object(job_store, "LOST", too_many),
        changed(NODES, "lives", "expires_at > ?", "expires_at > ? + 4500000"),
    ):
        yield
