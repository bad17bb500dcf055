"""A commit compares the schedule's state label, not its cursor and version (quartz#107)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import StoredSchedule

CAUGHT_BY = {"S2", "S4", "S10"}
FOUND_AT = 3


def still_stands(self: MemorySchedules, plan: Plan, stored: StoredSchedule) -> bool:
    return plan.before.paused == stored.paused


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemorySchedules, "_is_as_read", still_stands):
        yield
