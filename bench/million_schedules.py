"""A million cron schedules, held by the memory store and ticked by the real ticker.

Every schedule fires once an hour, a sixtieth of them in each virtual minute.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.endless_term import endless_term
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.ticking.ticker import Ticker, TickerSettings
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.schedules.plan import Written
from drumbeat.model.schedules.policy import Overlap, Policies
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.model.triggers import cron
from drumbeat.rules.schedules.schedule_edit import declare
from drumbeat.testing import FakeClock, FakeRuntime

TITLE = "A million cron schedules in memory"
START = datetime(2030, 1, 1, tzinfo=UTC)
BATCH = 10_000


def run(*, quick: bool) -> dict[str, object]:
    """Bytes per schedule, microseconds of processor time per fire, fires per second."""
    return asyncio.run(_measure(100_000 if quick else 1_000_000, minutes=12))


async def _measure(count: int, minutes: int) -> dict[str, object]:
    clock = FakeClock(START)
    runtime = FakeRuntime(clock)
    store = MemoryStore(clock)
    before = _resident()
    start = time.process_time()
    await _declare(store, count)
    gc.collect()
    declaring = time.process_time() - start
    held = _resident() - before
    ticker = Ticker(
        await endless_term(store, 1, runtime),
        store.schedules,
        TickerSettings(batch=BATCH, poll=None),
        ServiceContext(runtime, Bus(clock)),
    )
    start, wall = time.process_time(), time.perf_counter()
    for _ in range(minutes):
        await clock.advance(timedelta(minutes=1))
        while await ticker.once() == 0:
            pass
    ticking, wall = time.process_time() - start, time.perf_counter() - wall
    fires = sum(sum(each.values()) for each in (await store.jobs.counts()).values())
    return {
        "schedules": count,
        "virtual_minutes": minutes,
        "fires": fires,
        "expected_fires": sum(len(range(minute, count, 60)) for minute in range(1, minutes + 1)),
        "bytes_per_schedule": round(held / count),
        "us_to_declare": round(declaring * 1e6 / count, 2),
        "us_per_fire": round(ticking * 1e6 / fires, 2),
        "fires_per_second": round(fires / wall),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


async def _declare(store: MemoryStore, count: int) -> None:
    policies = Policies(overlap=Overlap.ALLOW)
    for first in range(0, count, BATCH):
        edits = [
            declare(
                None,
                Schedule(
                    f"schedule-{number}",
                    cron(f"{number % 60} * * * *"),
                    JobSpec("nothing"),
                    policies,
                ),
                START,
            ).edit
            for number in range(first, min(first + BATCH, count))
        ]
        verdicts = await store.schedules.put([edit for edit in edits if edit is not None])
        assert all(isinstance(verdict, Written) for verdict in verdicts)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
