"""A deployment replaces a schedule at once and drops its due ticks."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from unittest.mock import patch

from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.rules.schedules import schedule_edit
from drumbeat.rules.schedules.schedule_edit import Declared

CAUGHT_BY = {"S2"}
FOUND_AT = 0

_declare = schedule_edit.declare


def declare(
    stored: StoredSchedule | None, schedule: Schedule, now: datetime, since: datetime | None = None
) -> Declared:
    with patch.object(schedule_edit, "_has_ticks_to_fire", return_value=False):
        return _declare(stored, schedule, now, since)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(schedule_edit, "declare", declare):
        yield
