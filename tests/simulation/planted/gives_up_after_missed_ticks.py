"""Too many missed ticks are dropped without a ledger row (kubernetes#42649: more than 100)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from unittest.mock import patch

from drumbeat.engine.ticking.ticker import Ticker
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import DueSchedule

CAUGHT_BY = {"S2"}
FOUND_AT = 2
TOO_MANY = 4

plan = Ticker._plan


def plan_few(self: Ticker, schedule: DueSchedule, now: datetime) -> Plan | None:
    made = plan(self, schedule, now)
    if made is not None and len(made.fires) + sum(skip.count for skip in made.skips) > TOO_MANY:
        return replace(made, fires=(), skips=())
    return made


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Ticker, "_plan", plan_few):
        yield
