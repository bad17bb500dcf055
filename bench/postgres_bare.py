"""Bare PostgreSQL: a queue of two tables in hand-written SQL, with nothing around it.

One small table of jobs with one index, and an archive. Inserts by `unnest`; one statement deletes
finished jobs, writes them to the archive, and claims the next. No limits, fences, attempts, counts,
notifications, retries or results. Durability is the server's own: fully durable.

*Careful* is the same with what a queue needs to survive the death of a worker: a fence that each
claim raises and each settlement has to match, so that a worker that was considered dead cannot
complete a job that another one runs, and an index of the holders.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from bench.due_schedules import PAYLOAD
from drumbeat.backends.postgres.connection.client import Connection
from drumbeat.backends.postgres.connection.client import connect as connect_to

CONNECTIONS = 2
"""Connections of the bare batcher; more did not help."""
LARGEST_BATCH = 1_000
GENERIC = {"plan_cache_mode": "force_generic_plan"}
BY_INDEX = {**GENERIC, "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off"}
"""For a join with an array, whose length the planner does not know."""

Drained = tuple[int, float, float]
"""The number of jobs, and the times of the first request and of the last completion."""

SCHEMA = """
DROP SCHEMA IF EXISTS bare CASCADE;
CREATE SCHEMA bare;
CREATE TABLE bare.jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue text NOT NULL, priority int NOT NULL,
    run_at timestamptz NOT NULL, payload bytea NOT NULL, held_by text
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ready ON bare.jobs (queue, priority DESC, run_at, id) WHERE held_by IS NULL;
CREATE TABLE bare.archive (
    id bigint PRIMARY KEY, queue text NOT NULL, payload bytea NOT NULL, finished_at timestamptz
);
"""
CAREFUL_SCHEMA = """
CREATE TABLE bare.careful (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue text NOT NULL, priority int NOT NULL,
    run_at timestamptz NOT NULL, payload bytea NOT NULL, held_by text, fence int NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX careful_ready ON bare.careful (queue, priority DESC, run_at, id)
    WHERE held_by IS NULL;
CREATE INDEX careful_held ON bare.careful (held_by, id) WHERE held_by IS NOT NULL;
"""
INSERT_ONE = """
INSERT INTO bare.jobs (queue, priority, run_at, payload) VALUES ($1, $2, now(), $3) RETURNING id
"""
INSERT = """
INSERT INTO bare.jobs (queue, priority, run_at, payload)
SELECT queue, priority, now(), payload
FROM unnest($1::text[], $2::int[], $3::bytea[]) AS new (queue, priority, payload) RETURNING id
"""
TAKE = """
WITH done AS (
    DELETE FROM bare.jobs WHERE id = ANY($1::bigint[]) RETURNING id, queue, payload
), kept AS (
    INSERT INTO bare.archive (id, queue, payload, finished_at)
    SELECT id, queue, payload, now() FROM done
)
UPDATE bare.jobs SET held_by = $2 WHERE id = ANY(ARRAY(
    SELECT id FROM bare.jobs WHERE queue = 'default' AND held_by IS NULL
    ORDER BY priority DESC, run_at, id FOR UPDATE SKIP LOCKED LIMIT $3
)) RETURNING id, payload
"""
CAREFUL_TAKE = """
WITH done AS (
    DELETE FROM bare.careful AS j USING unnest($1::bigint[], $2::int[]) AS s (id, fence)
    WHERE j.id = s.id AND j.fence = s.fence AND coalesce(j.held_by, '') <> ''
    RETURNING j.id, j.queue, j.payload
), kept AS (
    INSERT INTO bare.archive (id, queue, payload, finished_at)
    SELECT id, queue, payload, now() FROM done
)
UPDATE bare.careful SET held_by = $3, fence = fence + 1 WHERE id = ANY(ARRAY(
    SELECT id FROM bare.careful WHERE queue = 'default' AND held_by IS NULL
    ORDER BY priority DESC, run_at, id FOR UPDATE SKIP LOCKED LIMIT $4
)) RETURNING id, fence, payload
"""


async def connect(address: str, settings: Mapping[str, str] = GENERIC) -> Connection:
    """A connection with generic plans, as a long-lived worker should have."""
    return await connect_to(address, server_settings=settings)


async def make(address: str) -> None:
    """Create all tables, empty."""
    connection = await connect(address)
    await connection.execute(SCHEMA + CAREFUL_SCHEMA)
    await connection.close()


async def lone_submits(address: str, jobs: int) -> float:
    """Seconds of one awaited INSERT without other callers."""
    connection = await connect(address)
    await connection.fetchval(INSERT_ONE, "default", 0, PAYLOAD)
    start = time.perf_counter()
    for _ in range(jobs):
        await connection.fetchval(INSERT_ONE, "default", 0, PAYLOAD)
    wall = time.perf_counter() - start
    await connection.close()
    return wall / jobs


async def bulk(address: str, jobs: int, table: str = "jobs") -> float:
    """Jobs per second by `unnest` of a thousand at a time."""
    connection = await connect(address)
    insert = INSERT.replace("bare.jobs", f"bare.{table}")
    start = time.perf_counter()
    for _ in range(jobs // LARGEST_BATCH):
        await connection.fetch(insert, *_columns(LARGEST_BATCH))
    wall = time.perf_counter() - start
    await connection.close()
    return jobs / wall


async def submits(address: str, jobs: int, callers: int) -> float:
    """Jobs per second of several callers, each of which awaits each of its jobs."""
    batcher = Batcher([await connect(address) for _ in range(CONNECTIONS)])

    async def call() -> None:
        for _ in range(jobs // callers):
            await batcher.submit()

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(call())
    wall = time.perf_counter() - start
    await batcher.close()
    return jobs / wall


class Batcher:
    """Writes all waiting jobs whenever a connection is free."""

    def __init__(self, connections: list[Connection]) -> None:
        self._connections = connections
        self._free = list(connections)
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._writes: set[asyncio.Task[None]] = set()

    async def submit(self) -> int:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        if self._free and len(self._waiting) == 1:
            self._begin()
        return await future

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()

    def _begin(self) -> None:
        write = asyncio.create_task(self._write(self._free.pop()))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)

    async def _write(self, connection: Connection) -> None:
        await asyncio.sleep(0)
        while self._waiting:
            size = min(len(self._waiting), LARGEST_BATCH)
            batch = [self._waiting.popleft() for _ in range(size)]
            rows = await connection.fetch(INSERT, *_columns(size))
            for future, row in zip(batch, rows, strict=True):
                future.set_result(row[0])
        self._free.append(connection)


async def drain(address: str, batch: int, name: str = "bare") -> Drained:
    """Claim and complete until no job is left."""
    connection = await connect(address)
    done = 0
    held: list[int] = []
    start = time.monotonic()
    while True:
        rows = await connection.fetch(TAKE, held, name, batch)
        if not rows and not held:
            break
        held = [row[0] for row in rows]
        done += len(held)
    end = time.monotonic()
    await connection.close()
    return done, start, end


async def drain_carefully(address: str, batch: int, name: str = "bare") -> Drained:
    """The same with fences and an index of the holders."""
    connection = await connect(address, BY_INDEX)
    done = 0
    held: list[int] = []
    fences: list[int] = []
    start = time.monotonic()
    while True:
        rows = await connection.fetch(CAREFUL_TAKE, held, fences, name, batch)
        if not rows and not held:
            break
        held = [row[0] for row in rows]
        fences = [row[1] for row in rows]
        done += len(held)
    end = time.monotonic()
    await connection.close()
    return done, start, end


Drain = Callable[[str, int, str], Awaitable[Drained]]


def drain_by(workers: int, address: str, batch: int, way: Drain = drain) -> float:
    """Jobs per second of several processes together."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
        for ready in [processes.submit(time.sleep, 0.5) for _ in range(workers)]:
            ready.result()  # each process has started and imported its modules
        drains = [
            processes.submit(_drain_here, way, address, batch, f"bare-{number}")
            for number in range(workers)
        ]
        results = [each.result() for each in drains]
    wall = max(end for _, _, end in results) - min(start for _, start, _ in results)
    return sum(done for done, _, _ in results) / wall


def _drain_here(way: Drain, address: str, batch: int, name: str) -> Drained:
    return asyncio.run(_await(way(address, batch, name)))


async def _await(drained: Awaitable[Drained]) -> Drained:
    return await drained


def _columns(size: int) -> tuple[list[str], list[int], list[bytes]]:
    return ["default"] * size, [0] * size, [PAYLOAD] * size
