"""Jobs on PostgreSQL through the public API, beside bare PostgreSQL in the same run.

The app and its workers have default settings. The server is a new one with default settings, fully
durable, or the one that DRUMBEAT_BENCH_POSTGRES names.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench import postgres_bare as bare
from bench.postgres_fleet import TEXT, Bench, Start, Target, drain, fleet, server

TITLE = "Jobs on PostgreSQL"
ROUNDS = 3
CALLERS = 100
LONE = 500
BATCHES = (100, 500, 1_000)
"""Batch sizes of the bare claim, of which the best counts."""
WARM_UP = 100
"""Jobs after which every connection of the worker has used its statements: the server plans each at
its first use, which takes tens of milliseconds."""
HALF_LOAD_SECONDS = 4.0
DELAY = 3.0


def run(*, quick: bool) -> dict[str, object]:
    """Jobs per second and milliseconds, ours and bare, and the ratios."""
    rounds = 1 if quick else ROUNDS
    with server() as address:
        target = Target(address)
        figures = _submits(target, 10_000 if quick else 50_000, rounds)
        for workers in (1, 2):
            figures |= _drains(target, 20_000 if quick else 100_000, workers, rounds)
        rate = figures["drain_1_per_second"]
        assert isinstance(rate, int)
        figures |= _latencies(target, 100 if quick else 200, rate / 2)
        _empty(target)
        return figures


def _submits(target: Target, jobs: int, rounds: int) -> dict[str, object]:
    lone, hundred, bulk = Compared(), Compared(), Compared()
    p99s: list[float] = []
    for _ in range(rounds):
        _empty(target)
        lone_bare = asyncio.run(bare.lone_submits(target.address, LONE))
        hundred_bare = asyncio.run(bare.submits(target.address, jobs, CALLERS))
        bulk_bare = asyncio.run(bare.bulk(target.address, jobs))
        ours = asyncio.run(_our_submits(target, jobs))
        lone.add(ours.lone * 1000, lone_bare * 1000)
        hundred.add(ours.hundred, hundred_bare)
        bulk.add(ours.bulk, bulk_bare)
        p99s.append(ours.p99)
    return {
        "lone_submit_ms": round(lone.median, 3),
        "lone_submit_to_bare": lone.ratio,
        "target_lone_submit_to_bare": "at most 1.3",
        "submit_100_callers_per_second": round(hundred.median),
        "submit_100_callers_to_bare": hundred.ratio,
        "target_submit_100_callers_to_bare": 0.7,
        "submit_100_callers_p99_ms": round(max(p99s) * 1000, 2),
        "submit_bulk_per_second": round(bulk.median),
        "submit_bulk_to_bare": bulk.ratio,
    }


class Compared:
    """Our figures and bare ones, compared by round, since the machine's speed varies."""

    def __init__(self) -> None:
        self._ours: list[float] = []
        self._ratios: list[float] = []

    def add(self, ours: float, bare: float) -> None:
        self._ours.append(ours)
        self._ratios.append(ours / bare)

    @property
    def median(self) -> float:
        """The median of our figures."""
        return statistics.median(self._ours)

    @property
    def ratio(self) -> float:
        """The median ratio of ours to bare."""
        return round(statistics.median(self._ratios), 2)


@dataclass(frozen=True, slots=True)
class Submits:
    """Seconds of a lone submit, rates, and the 99th percentile of a submit."""

    lone: float
    hundred: float
    p99: float
    bulk: float


async def _our_submits(target: Target, jobs: int) -> Submits:
    bench = Bench(target)
    async with bench.app.connected():
        submit = bench.nothing.submit
        await submit(0, TEXT)
        start = time.perf_counter()
        for _ in range(LONE):
            await submit(0, TEXT)
        lone = (time.perf_counter() - start) / LONE
        waits: list[float] = []

        async def call() -> None:
            for _ in range(jobs // CALLERS):
                asked = time.perf_counter()
                await submit(0, TEXT)
                waits.append(time.perf_counter() - asked)

        start = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(CALLERS):
                group.create_task(call())
        rate = jobs / (time.perf_counter() - start)
        calls = [(number, TEXT) for number in range(jobs)]
        start = time.perf_counter()
        await bench.nothing.submit_many(calls)
        bulk = jobs / (time.perf_counter() - start)
    return Submits(lone, rate, statistics.quantiles(waits, n=100)[-1], bulk)


def _drains(target: Target, jobs: int, workers: int, rounds: int) -> dict[str, object]:
    by_batch = {batch: _bare_drain(target, jobs, batch, workers) for batch in BATCHES}
    best = max(by_batch, key=by_batch.__getitem__)
    compared, careful = Compared(), Compared()
    for _ in range(rounds):
        bare_rate = _bare_drain(target, jobs, best, workers)
        careful_rate = _careful_drain(target, jobs, best, workers)
        _empty(target)
        ours = drain(target, jobs, workers)
        compared.add(ours, bare_rate)
        careful.add(ours, careful_rate)
    return {
        f"drain_{workers}_per_second": round(compared.median),
        f"drain_{workers}_to_bare": compared.ratio,
        f"target_drain_{workers}_to_bare": 0.5,
        f"drain_{workers}_to_careful": careful.ratio,
    }


def _bare_drain(target: Target, jobs: int, batch: int, workers: int) -> float:
    _empty(target)
    asyncio.run(bare.bulk(target.address, jobs))
    return bare.drain_by(workers, target.address, batch)


def _careful_drain(target: Target, jobs: int, batch: int, workers: int) -> float:
    _empty(target)
    asyncio.run(bare.bulk(target.address, jobs, "careful"))
    return bare.drain_by(workers, target.address, batch, bare.drain_carefully)


def _latencies(target: Target, count: int, rate: float) -> dict[str, object]:
    _empty(target)
    with fleet(target, 1, ("worker", "scheduler")) as processes:
        processes.start()
        asyncio.run(_trickle(target, WARM_UP))
        cold = _waits(processes.starts(WARM_UP))
        asyncio.run(_trickle(target, count))
        idle = _waits(processes.starts(count))
        loaded = asyncio.run(_at_rate(target, rate))
        half = _waits(processes.starts(loaded))
        asyncio.run(_delayed(target, 1_000))
        late = _waits(processes.starts(1_000))
    return {
        "pick_up_after_start_worst_ms": round(max(cold) * 1000, 2),
        "pick_up_idle_p50_ms": _percentile(idle, 50),
        "pick_up_idle_p99_ms": _percentile(idle, 99),
        "target_pick_up_idle_ms": "p50 under 3, p99 under 8",
        "pick_up_half_load_per_second": round(loaded / HALF_LOAD_SECONDS),
        "pick_up_half_load_p50_ms": _percentile(half, 50),
        "pick_up_half_load_p99_ms": _percentile(half, 99),
        "target_pick_up_half_load_ms": "p99 under 50",
        "delayed_late_p50_ms": _percentile(late, 50),
        "delayed_late_p99_ms": _percentile(late, 99),
        "target_delayed_late_ms": "p99 at most 50",
    }


async def _trickle(target: Target, count: int) -> None:
    bench = Bench(target)
    async with bench.app.connected():
        for number in range(count):
            await asyncio.sleep(0.004 + 0.012 * (number % 7) / 7)
            await bench.nothing.submit(time.monotonic(), TEXT)


async def _at_rate(target: Target, rate: float) -> int:
    """Submit jobs in small groups every 20 ms, at this rate; returns their number."""
    bench = Bench(target)
    sent = 0
    async with bench.app.connected():
        start = time.monotonic()
        while (elapsed := time.monotonic() - start) < HALF_LOAD_SECONDS:
            due = int(elapsed * rate) - sent
            if due > 0:
                now = time.monotonic()
                await bench.nothing.submit_many([(now, TEXT)] * due)
                sent += due
            await asyncio.sleep(0.02)
    return sent


async def _delayed(target: Target, count: int) -> None:
    bench = Bench(target)
    async with bench.app.connected():
        later = bench.nothing.options(delay=DELAY)
        for _ in range(count):
            await later.submit(time.monotonic() + DELAY, TEXT)
            await asyncio.sleep(0.001)


def _waits(starts: Sequence[Start]) -> list[float]:
    return [started - asked for asked, started in starts]


def _percentile(waits: Sequence[float], percent: int) -> float:
    return round(statistics.quantiles(waits, n=100)[percent - 1] * 1000, 2)


def _empty(target: Target) -> None:
    async def empty() -> None:
        await target.empty()
        await bare.make(target.address)

    asyncio.run(empty())
