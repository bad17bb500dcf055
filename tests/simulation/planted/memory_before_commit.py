"""The ticker advances in memory before the store has accepted the ticks (River loses ticks)."""

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
FOUND_AT = 6

MEMORIES: WeakKeyDictionary[Ticker, dict[str, datetime]] = WeakKeyDictionary()

plan = Ticker._plan


def plan_from_memory(self: Ticker, schedule: DueSchedule, now: datetime) -> Plan | None:
    made = plan(self, schedule, now)
    if made is None:
        return None
    memory = MEMORIES.setdefault(self, {})
    reached = memory.get(made.name)
    memory[made.name] = made.cursor
    if reached is None:
        return made
    fires = tuple(fire for fire in made.fires if fire.tick_at > reached)
    return replace(made, fires=fires, skips=tuple(s for s in made.skips if s.tick_at > reached))


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Ticker, "_plan", plan_from_memory):
        yield
