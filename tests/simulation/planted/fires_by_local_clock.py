"""The leader's own clock decides what is due, and the store does not compare the time."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from unittest.mock import patch

from drumbeat.backends.memory.store.schedules.ledger import Signature
from drumbeat.backends.memory.store.schedules.schedule_store import MemorySchedules
from drumbeat.engine.ticking import ticker
from drumbeat.engine.ticking.ticker import Ticker
from drumbeat.model.schedules.plan import Committed, Plan, Raced
from drumbeat.model.schedules.schedule import DueSchedule

CAUGHT_BY = {"S9"}
FOUND_AT = 1

plan, commit = Ticker._plan, MemorySchedules._commit


def plan_locally(self: Ticker, schedule: DueSchedule, now: datetime) -> Plan | None:
    return plan(self, schedule, self._runtime.clock.now())


def commit_early(self: MemorySchedules, made: Plan, by: Signature) -> Committed | Raced:
    return commit(self, replace(made, cursor=min(made.cursor, by.recorded_at)), by)


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(Ticker, "_plan", plan_locally),
        patch.object(MemorySchedules, "_commit", commit_early),
        patch.object(ticker, "WIDEST_SKEW", timedelta(days=1)),
    ):
        yield
