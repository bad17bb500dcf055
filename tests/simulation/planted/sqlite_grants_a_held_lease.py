"""On SQLite a term counts as over one whole TTL before its end."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.coordinator.leases import SQL
from simulation.planting import changed

STORE = "sqlite"
CAUGHT_BY = {"S18"}
FOUND_AT = 0


@contextmanager
def planted() -> Generator[None]:
    with (
        changed(SQL, "current", "ends_at > :now", "ends_at > :now + ttl"),
        changed(SQL, "acquire", "leases.ends_at <= :now", "leases.ends_at <= :now + leases.ttl"),
    ):
        yield
