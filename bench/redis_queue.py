"""Jobs on PostgreSQL with Redis Streams in front of it, beside PostgreSQL alone in the same run.

Both are measured in turn, round by round, since the speed of the machine varies. Redis has an
append-only file that is flushed once a second, as the servers of the tests have.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import replace

from bench.postgres_fleet import TEXT, Bench, Target, drain, fleet, server
from bench.postgres_jobs import CALLERS, Compared
from drumbeat.backends.postgres.connection.client import connect
from servers import Redis

TITLE = "Redis Streams in front of PostgreSQL"
ROUNDS = 3
LONE = 500
IDLE = 4
"""Workers that have nothing to do while single jobs come."""
TRICKLE = 300
"""Single jobs, one every ten milliseconds."""


def run(*, quick: bool) -> dict[str, object]:
    """With the queue and without: latency, drains, submissions, and what idle workers cost."""
    rounds = 1 if quick else ROUNDS
    with server() as address, Redis.start() as redis:
        alone = Target(address)
        both = alone, replace(alone, queue=redis.address)
        figures = _submits(both, 5_000 if quick else 30_000, rounds)
        for workers in (1, 2):
            figures |= _drains(both, 20_000 if quick else 100_000, workers, rounds)
        figures |= _idle(both, 100 if quick else TRICKLE)
        asyncio.run(alone.empty())
        return figures


def _drains(both: tuple[Target, Target], jobs: int, workers: int, rounds: int) -> dict[str, object]:
    compared = Compared()
    for _ in range(rounds):
        without, with_queue = (_drained(target, jobs, workers) for target in both)
        compared.add(with_queue, without)
    return {
        f"drain_{workers}_per_second": round(compared.median),
        f"drain_{workers}_to_without": compared.ratio,
    }


def _drained(target: Target, jobs: int, workers: int) -> float:
    asyncio.run(target.empty())
    return drain(target, jobs, workers)


def _submits(both: tuple[Target, Target], jobs: int, rounds: int) -> dict[str, object]:
    lone, many = Compared(), Compared()
    for _ in range(rounds):
        (lone_without, without), (lone_with, with_queue) = (
            asyncio.run(_submitted(target, jobs)) for target in both
        )
        lone.add(lone_with * 1000, lone_without * 1000)
        many.add(with_queue, without)
    return {
        "lone_submit_ms": round(lone.median, 3),
        "lone_submit_to_without": lone.ratio,
        f"submit_{CALLERS}_callers_per_second": round(many.median),
        f"submit_{CALLERS}_callers_to_without": many.ratio,
    }


async def _submitted(target: Target, jobs: int) -> tuple[float, float]:
    """Seconds of a lone submission, and submissions per second of many callers."""
    await target.empty()
    bench = Bench(target)
    async with bench.app.connected():
        submit = bench.nothing.submit
        await submit(0, TEXT)
        start = time.perf_counter()
        for _ in range(LONE):
            await submit(0, TEXT)
        lone = (time.perf_counter() - start) / LONE

        async def call() -> None:
            for _ in range(jobs // CALLERS):
                await submit(0, TEXT)

        start = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(CALLERS):
                group.create_task(call())
        return lone, jobs / (time.perf_counter() - start)


def _idle(both: tuple[Target, Target], jobs: int) -> dict[str, object]:
    figures: dict[str, object] = {}
    for name, target in zip(("without", "with"), both, strict=True):
        asyncio.run(target.empty())
        with fleet(target, IDLE) as processes:
            processes.start()
            asyncio.run(_trickle(target, 50))
            processes.starts(50)
            before = asyncio.run(_commits(target))
            asyncio.run(_trickle(target, jobs))
            waits = [started - asked for asked, started in processes.starts(jobs)]
            commits = asyncio.run(_commits(target)) - before
        figures |= {
            f"pick_up_p50_ms_{name}": round(statistics.median(waits) * 1000, 2),
            f"pick_up_p99_ms_{name}": round(statistics.quantiles(waits, n=100)[-1] * 1000, 2),
            f"transactions_per_job_{name}": round(commits / jobs, 2),
        }
    return {
        **figures,
        "target_pick_up_p50_ms_with": "under 3",
        "idle_workers": IDLE,
    }


async def _trickle(target: Target, count: int) -> None:
    bench = Bench(target)
    async with bench.app.connected():
        for _ in range(count):
            await asyncio.sleep(0.01)
            await bench.nothing.submit(time.monotonic(), TEXT)


async def _commits(target: Target) -> int:
    """Transactions that the server has committed, as far as its statistics know."""
    await asyncio.sleep(1.5)  # sessions report about once a second
    connection = await connect(target.address)
    try:
        count: int = await connection.fetchval(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        )
        return count
    finally:
        await connection.close()
