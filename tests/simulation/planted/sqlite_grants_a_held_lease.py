"""On SQLite a term ends one whole TTL too early."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.coordinator.leases import SQL
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S18"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with (
        patched(SQL, "current", "ends_at > :now", "ends_at > :now + ttl"),
        patched(SQL, "acquire", "leases.ends_at <= :now", "leases.ends_at <= :now + leases.ttl"),
    ):
        yield
