"""Measures the real ticker on schedules that are all due in the same second, on any store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from typing import cast

from bench.endless_term import NODE, endless_term
from drumbeat.engine.lifecycle.own_process import freeze_loaded_objects
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.ticking.ticker import Ticker, TickerSettings
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import Change, JobSpec, Settlement, Wanted
from drumbeat.model.schedules.plan import Committed, Edit, Plan, Raced
from drumbeat.model.schedules.schedule import Due, Schedule
from drumbeat.model.triggers import cron
from drumbeat.ports.store import ScheduleStore, Store
from drumbeat.rules.schedules.schedule_edit import declare
from drumbeat.testing import FakeClock, FakeRuntime

DECLARED = 1_000
PAYLOAD = b'{"text":"' + b"x" * 144 + b'"}'
WANTED = Wanted(("default",), frozenset({"nothing"}), 1_000)
START = datetime(2030, 1, 1, tzinfo=UTC)

new_settlement = fast_constructor(Settlement)


async def measure(make: Callable[[str], Store], address: str, schedules: int) -> dict[str, object]:
    """Seconds of the first pass, of a warm pass, and of one by a new leader in another process."""
    store = make(address)
    await store.open()
    for first in range(0, schedules, DECLARED):
        edits = [_declared(number) for number in range(first, first + DECLARED)]
        await store.schedules.put(edits, START)
    freeze_loaded_objects()  # as `app.run()` does
    figures: dict[str, object] = {"schedules": schedules}
    for minute, name in enumerate(("first", "warm"), 1):
        figures[f"schedules_{name}_seconds"] = round(await _tick(store, minute), 3)
        await _run_all(store, schedules)
    await store.close()
    with ProcessPoolExecutor(1, get_context("spawn")) as another:
        seconds = another.submit(_lead_anew, make, address, 3).result()
    figures["schedules_new_leader_seconds"] = round(seconds, 3)
    figures["target_schedules_seconds"] = 0.5
    return figures


def _lead_anew(make: Callable[[str], Store], address: str, minute: int) -> float:
    async def tick() -> float:
        store = make(address)
        await store.open()
        freeze_loaded_objects()
        seconds = await _tick(store, minute)
        await store.close()
        return seconds

    return asyncio.run(tick())


def _declared(number: int) -> Edit:
    schedule = Schedule(f"schedule-{number}", cron("* * * * *"), JobSpec("nothing", PAYLOAD))
    edit = declare(None, schedule, START).edit
    assert edit is not None
    return edit


async def _tick(store: Store, minute: int) -> float:
    """Seconds that the leader of a new term takes to fire all schedules at once."""
    now = START + timedelta(minutes=minute)
    runtime = FakeRuntime(FakeClock(now))
    ticker = Ticker(
        await endless_term(store, minute, runtime),
        cast("ScheduleStore", _AtOneInstant(store.schedules, now)),
        TickerSettings(poll=None, writers=store.writers),
        ServiceContext(runtime, Bus(runtime.clock)),
    )
    start = time.perf_counter()
    while await ticker.once() == 0:
        pass
    return time.perf_counter() - start


class _AtOneInstant:
    """The calls of the ticker on a store, at a fixed instant instead of the store's time."""

    def __init__(self, schedules: ScheduleStore, now: datetime) -> None:
        self._schedules = schedules
        self.now = now

    async def due(self, limit: int, *, ahead: timedelta) -> Due:
        return await self._schedules.due(limit, self.now, ahead=ahead)

    async def commit(self, plans: Sequence[Plan], epoch: Epoch) -> Sequence[Committed | Raced]:
        """Commit the plans, and check that each fires."""
        verdicts = await self._schedules.commit(plans, epoch, self.now)
        assert all(isinstance(verdict, Committed) and verdict.jobs for verdict in verdicts)
        return verdicts


async def _run_all(store: Store, jobs: int) -> None:
    """Complete the jobs of all ticks, so that the next ticks do not overlap."""
    settled: list[Settlement] = []
    while True:
        taken = await store.jobs.take(WANTED, NODE, settled)
        settled = [new_settlement(each.hold, Change.COMPLETE) for each in taken.attempts]
        jobs -= len(settled)
        if not settled:
            assert jobs == 0
            return
