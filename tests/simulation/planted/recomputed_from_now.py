"""A new leader computes the next ticks from now and forgets earlier ones (dkron#1210)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from unittest.mock import patch
from weakref import WeakKeyDictionary

from drumbeat.engine.ticking.ticker import Ticker
from drumbeat.model.schedules.plan import Plan
from drumbeat.model.schedules.schedule import DueSchedule

CAUGHT_BY = {"S2"}
FOUND_AT = 0

BEGAN: WeakKeyDictionary[Ticker, datetime] = WeakKeyDictionary()

plan = Ticker._plan


def plan_from_now(self: Ticker, schedule: DueSchedule, now: datetime) -> Plan | None:
    began = BEGAN.setdefault(self, now)
    made = plan(self, schedule, now)
    if made is None:
        return None
    fires = tuple(fire for fire in made.fires if fire.tick_at >= began)
    return replace(made, fires=fires, skips=tuple(s for s in made.skips if s.tick_at >= began))


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Ticker, "_plan", plan_from_now):
        yield
