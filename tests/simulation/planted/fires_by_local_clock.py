"""The leader's own clock decides what is due."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from unittest.mock import patch

from drumbeat.engine.ticking import ticker
from drumbeat.engine.ticking.ticker import Ticker
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import DueSchedule

CAUGHT_BY = {"S9"}
FOUND_AT = 1

plan = Ticker._plan


def plan_locally(self: Ticker, schedule: DueSchedule, now: datetime) -> Plan | None:
    return plan(self, schedule, self._runtime.clock.now())


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(Ticker, "_plan", plan_locally),
        patch.object(ticker, "WIDEST_SKEW", timedelta(days=1)),
    ):
        yield
