"""PostgreSQL in the long run: many finished jobs, a forgotten transaction, and many schedules.

One statement writes the finished jobs as the store would have written them. The same jobs are then
submitted and drained beside them and on an empty schema, alternately. After that another session
holds a transaction open, so that dead rows cannot be removed, and the drains continue: every round
leaves more dead rows.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
from collections.abc import Generator
from contextlib import contextmanager

from bench import due_schedules
from bench.postgres_fleet import Target, backlog, drain, server
from drumbeat.backends.postgres.connection.client import connect
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock

TITLE = "PostgreSQL in the long run"
ROUNDS = 3
HELD_ROUNDS = 5
FINISHED = """
INSERT INTO {schema}.archive (
    id, run_at, created_at, finished_at, started_at, lane, attempt, fence, rank, cancel_requested,
    status, arguments, node
)
SELECT -number, moment, moment, moment, moment, lane, 1, 1, 0, false, 'completed',
    convert_to('{{"number":0,"text":"' || repeat('x', 120) || '"}}', 'UTF8'), 'bench:1'
FROM (
    SELECT number, now() - number * interval '10 milliseconds' AS moment,
        (SELECT min(id) FROM {schema}.lanes) AS lane
    FROM generate_series(1, COUNT) AS numbers (number)
) AS finished
"""


def run(*, quick: bool) -> dict[str, object]:
    """Ratios of drains to those on an empty schema, and seconds for many schedules."""
    jobs = 20_000 if quick else 100_000
    with server() as address:
        figures = _many_schedules(Target(address, "bench_schedules"), 2_000 if quick else 10_000)
        figures |= _full(address, 200_000 if quick else 5_000_000, jobs)
        figures |= _held_open(Target(address), jobs)
        return figures


def _many_schedules(target: Target, count: int) -> dict[str, object]:
    asyncio.run(target.empty())
    figures = asyncio.run(due_schedules.measure(_store_at, target.address, count))
    asyncio.run(target.empty())
    return figures


def _store_at(address: str) -> PostgresStore:
    return PostgresStore(address, SystemClock(), "bench_schedules")


def _full(address: str, finished: int, jobs: int) -> dict[str, object]:
    full, empty = Target(address, "bench_full"), Target(address)
    asyncio.run(_fill(full, finished))
    ratios: list[float] = []
    for _ in range(ROUNDS):
        asyncio.run(empty.empty())
        ratios.append(drain(full, jobs) / drain(empty, jobs))
    asyncio.run(full.empty())
    return {
        "finished_jobs": finished,
        "drain_full_to_empty": round(statistics.median(ratios), 2),
        "target_drain_full_to_empty": 0.9,
    }


async def _fill(target: Target, finished: int) -> None:
    await target.empty()
    await backlog(target, 1)  # creates the schema and the lane
    await target.execute(
        "TRUNCATE {schema}.jobs, {schema}.tallies",
        FINISHED.replace("COUNT", str(finished)),
        "VACUUM ANALYZE {schema}.archive",
        "CHECKPOINT",
    )


def _held_open(target: Target, jobs: int) -> dict[str, object]:
    asyncio.run(target.empty())
    drain(target, jobs)
    before = statistics.median(drain(target, jobs) for _ in range(ROUNDS))
    with _transaction(target):
        rates = [drain(target, jobs) for _ in range(HELD_ROUNDS)]
    asyncio.run(target.empty())
    return {
        "drain_before_per_second": round(before),
        "drain_held_open_to_before": [round(rate / before, 2) for rate in rates],
        "drain_held_open_worst": round(min(rates) / before, 2),
        "target_drain_held_open_worst": 0.5,
    }


@contextmanager
def _transaction(target: Target) -> Generator[None]:
    """Hold a read transaction open in a separate thread."""
    began, over = threading.Event(), threading.Event()

    async def hold() -> None:
        connection = await connect(target.address)
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await connection.fetchval(f"SELECT count(*) FROM {target.namespace}.lanes")
        began.set()
        await asyncio.to_thread(over.wait)
        await connection.close()

    thread = threading.Thread(target=lambda: asyncio.run(hold()))
    thread.start()
    began.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()
