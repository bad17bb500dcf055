"""A plan that was made ahead is committed at once, and the store does not compare the time."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from unittest.mock import patch

from drumbeat.backends.memory.store.schedules.ledger import Signature
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.engine.ticking.upcoming import Upcoming
from drumbeat.model.schedules.plan import Committed, Plan, Raced

CAUGHT_BY = {"S9"}
FOUND_AT = 0

take_due, commit = Upcoming.take_due, MemorySchedules._commit
NEVER = datetime.max.replace(tzinfo=UTC)


def take_all(self: Upcoming, _now: datetime) -> list[Plan]:
    return take_due(self, NEVER)


def commit_early(self: MemorySchedules, made: Plan, by: Signature) -> Committed | Raced:
    return commit(self, replace(made, cursor=min(made.cursor, by.recorded_at)), by)


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(Upcoming, "take_due", take_all),
        patch.object(MemorySchedules, "_commit", commit_early),
    ):
        yield
