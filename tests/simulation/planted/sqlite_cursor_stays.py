"""On SQLite a schedule's cursor does not move when its ticks fire."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import SCHEDULES
from simulation.sql_patch import patched

STORE = "sqlite"
CAUGHT_BY = {"S2", "S4", "L2", "L3"}
FOUND_AT = 4


@contextmanager
def planted() -> Generator[None]:
    with patched(SCHEDULES, "advance", "cursor = advanced.cursor", "cursor = advanced.before"):
        yield
