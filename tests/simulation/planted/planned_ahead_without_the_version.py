"""A plan that was made ahead is committed without comparing version and cursor."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import StoredSchedule

CAUGHT_BY = {"S2", "S4", "S10"}
FOUND_AT = 3

is_as_read = MemorySchedules._is_as_read


def trusts_what_is_on_time(self: MemorySchedules, plan: Plan, stored: StoredSchedule) -> bool:
    """Only such a plan is late by less than a pass of the ticker takes."""
    ahead = [fire.tick_at for fire in plan.fires] == [plan.cursor]
    return ahead or is_as_read(self, plan, stored)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(MemorySchedules, "_is_as_read", trusts_what_is_on_time):
        yield
