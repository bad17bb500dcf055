"""A deployment replaces a schedule at once, and drops the ticks that were due."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from unittest.mock import patch

from drumbeat.model.schedule import Schedule, StoredSchedule
from drumbeat.rules import editing
from drumbeat.rules.editing import Declared

CAUGHT_BY = {"S2"}
FOUND_AT = 17

_declare = editing.declare


def declare(
    stored: StoredSchedule | None, schedule: Schedule, now: datetime, since: datetime | None = None
) -> Declared:
    with patch.object(editing, "_has_ticks_to_fire", return_value=False):
        return _declare(stored, schedule, now, since)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(editing, "declare", declare):
        yield
