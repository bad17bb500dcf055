"""On SQLite a schedule is not moved on with the ticks that it fired."""

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.backends.sqlite.store.sql import SCHEDULES
from simulation.planting import changed

STORE = "sqlite"
CAUGHT_BY = {"S2", "S4", "L2", "L3"}
FOUND_AT = 4


@contextmanager
def planted() -> Generator[None]:
    with changed(SCHEDULES, "advance", "cursor = advanced.cursor", "cursor = advanced.before"):
        yield
