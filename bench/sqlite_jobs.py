"""The SQLite store beside bare SQLite, with the same batches and durability in the same run.

Bare means one table with one index, `executemany` to insert, one guarded update to claim and
`executemany` to complete, in transactions of a hundred jobs with `synchronous=FULL`, in one thread
without waiting callers. It keeps finished jobs, but no results, fences, attempts, limits or counts.
A second bare run deletes completed jobs: the upper limit of any queue.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from bench import due_schedules
from bench.due_schedules import PAYLOAD
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Attempt, Change, JobSpec, Settlement, Wanted
from drumbeat.ports.store import Topic

TITLE = "Jobs and schedules on SQLite"
BATCH = 100
CALLERS = 100
SPEC = JobSpec("nothing", PAYLOAD)
WANTED = Wanted(("default",), frozenset({"nothing"}), BATCH)
NODE = NodeId("bench:1")
ROUNDS = 5

new_settlement = fast_constructor(Settlement)

BARE = """
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, queue TEXT, priority INTEGER, run_at INTEGER, payload BLOB,
    status TEXT, finished_at INTEGER
);
CREATE INDEX ready ON jobs (queue, priority DESC, run_at, id) WHERE status = 'queued';
"""
BARE_INSERT = """
INSERT INTO jobs (queue, priority, run_at, payload, status) VALUES (?, ?, ?, ?, 'queued')
"""
BARE_CLAIM = """
UPDATE jobs SET status = 'running' WHERE id IN (
    SELECT id FROM jobs WHERE queue = ? AND status = 'queued'
    ORDER BY priority DESC, run_at, id LIMIT ?
) RETURNING id, payload
"""
BARE_COMPLETE = "UPDATE jobs SET status = 'completed', finished_at = ? WHERE id = ?"
BARE_DELETE = "DELETE FROM jobs WHERE finished_at IS NOT ? AND id = ?"


def run(*, quick: bool) -> dict[str, object]:
    """Jobs per second and milliseconds, ours and bare, and the ratios."""
    jobs = 10_000 if quick else 20_000
    figures: dict[str, object] = {}
    rounds = [_one_round(jobs) for _ in range(1 if quick else ROUNDS)]
    for name in (
        *("submit_bare", "submit_100_callers", "submit_bulk"),
        *("drain_floor", "drain_bare", "drain"),
    ):
        figures[f"{name}_per_second"] = round(statistics.median(each[name] for each in rounds))
    for ours, bare in (
        ("submit_100_callers", "submit_bare"),
        ("submit_bulk", "submit_bare"),
        ("drain", "drain_bare"),
        ("drain", "drain_floor"),
    ):
        ratio = statistics.median(each[ours] / each[bare] for each in rounds)
        figures[f"{ours}_to_{bare.partition('_')[2]}"] = round(ratio, 2)
    figures["submit_p99_ms"] = round(max(each["p99"] for each in rounds), 2)
    figures["target_to_bare"] = 0.5
    figures |= _pick_up(50 if quick else 300)
    figures |= _processes(jobs)
    with temporary_folder() as folder:
        path = str(folder / "ours.db")
        figures |= asyncio.run(due_schedules.measure(store_at, path, 2_000 if quick else 10_000))
    return figures


def store_at(path: str) -> SqliteStore:
    return SqliteStore(path, SystemClock())


def _one_round(jobs: int) -> dict[str, float]:
    with temporary_folder() as folder:
        deleting = _bare(folder / "floor.db", jobs, BARE_DELETE)
        bare = _bare(folder / "bare.db", jobs, BARE_COMPLETE)
        bare["drain_floor"] = deleting["drain_bare"]
        return bare | asyncio.run(_ours(folder / "ours.db", jobs))


@contextmanager
def temporary_folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _bare(path: Path, jobs: int, complete: str) -> dict[str, float]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(BARE)
    start = time.perf_counter()
    for _ in range(jobs // BATCH):
        now = time.time_ns() // 1000
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(BARE_INSERT, [("default", 0, now, PAYLOAD)] * BATCH)
        connection.execute("COMMIT")
    submitted = time.perf_counter()
    held: list[tuple[int, bytes]] = []
    while True:
        connection.execute("BEGIN IMMEDIATE")
        now = time.time_ns() // 1000
        connection.executemany(complete, [(now, number) for number, _ in held])
        held = connection.execute(BARE_CLAIM, ("default", BATCH)).fetchall()
        connection.execute("COMMIT")
        if not held:
            break
    drained = time.perf_counter()
    connection.close()
    return {"submit_bare": jobs / (submitted - start), "drain_bare": jobs / (drained - submitted)}


async def _ours(path: Path, jobs: int) -> dict[str, float]:
    store = SqliteStore(path, SystemClock())
    await store.open()
    start = time.perf_counter()
    waits = await _submit_from_many_callers(store, jobs)
    submitted = time.perf_counter()
    await drain(store, NODE)
    drained = time.perf_counter()
    for _ in range(jobs // BATCH):
        await store.jobs.insert([SPEC] * BATCH)
    bulk = time.perf_counter()
    await store.close()
    return {
        "submit_100_callers": jobs / (submitted - start),
        "drain": jobs / (drained - submitted),
        "submit_bulk": jobs / (bulk - drained),
        "p99": statistics.quantiles(waits, n=100)[-1] * 1000,
    }


async def _submit_from_many_callers(store: SqliteStore, jobs: int) -> list[float]:
    waits: list[float] = []

    async def call() -> None:
        for _ in range(jobs // CALLERS):
            start = time.perf_counter()
            await store.jobs.insert([SPEC])
            waits.append(time.perf_counter() - start)

    async with asyncio.TaskGroup() as group:
        for _ in range(CALLERS):
            group.create_task(call())
    return waits


async def drain(store: SqliteStore, node: NodeId) -> int:
    """Claim and complete all jobs; returns their number."""
    settled: list[Settlement] = []
    done = 0
    while True:
        taken = await store.jobs.take(WANTED, node, settled)
        if not taken.attempts:
            return done
        done += len(taken.attempts)
        settled = [_completion(attempt) for attempt in taken.attempts]


def _completion(attempt: Attempt) -> Settlement:
    return new_settlement(attempt.hold, Change.COMPLETE)


def _pick_up(count: int) -> dict[str, object]:
    """The time from a submission to its claim in another process, one job at a time."""
    with temporary_folder() as folder, _child(_await_jobs, folder / "ours.db", count) as child:
        asyncio.run(_submit_singly(folder / "ours.db", count, child))
        waits = [wait * 1000 for wait in child.recv()]
    return {
        "pick_up_p50_ms": round(statistics.median(waits), 2),
        "pick_up_p99_ms": round(statistics.quantiles(waits, n=100)[-1], 2),
        "target_pick_up_p99_ms": 5.0,
    }


async def _submit_singly(path: Path, count: int, child: Connection) -> None:
    store = SqliteStore(path, SystemClock())
    await store.open()
    child.recv()
    for _ in range(count):
        await asyncio.sleep(0.01)
        await store.jobs.insert([JobSpec("nothing", str(time.monotonic()).encode())])
    await store.close()


def _await_jobs(path: Path, count: int, parent: Connection) -> None:
    async def work() -> list[float]:
        store = SqliteStore(path, SystemClock())
        await store.open()
        hint = asyncio.Event()
        store.subscribe(Topic.JOBS, hint.set)
        parent.send("ready")
        waits: list[float] = []
        settled: list[Settlement] = []
        while len(waits) < count:
            taken = await store.jobs.take(WANTED, NODE, settled)
            settled = [_completion(attempt) for attempt in taken.attempts]
            now = time.monotonic()
            waits += [now - float(attempt.spec.arguments) for attempt in taken.attempts]
            if not settled and len(waits) < count:
                await hint.wait()
            hint.clear()
        await store.close()
        return waits

    parent.send(asyncio.run(work()))


def _processes(jobs: int) -> dict[str, object]:
    """The rates at which one process and two processes drain a backlog."""
    rates: dict[int, float] = {}
    for workers in (1, 2):
        with temporary_folder() as folder:
            path = folder / "ours.db"
            asyncio.run(_fill(path, jobs))
            rates[workers] = _drain_in_processes(path, workers)
    return {
        "drain_one_process_per_second": round(rates[1]),
        "drain_two_processes_per_second": round(rates[2]),
        "two_processes_to_one": round(rates[2] / rates[1], 2),
    }


async def _fill(path: Path, jobs: int) -> None:
    store = SqliteStore(path, SystemClock())
    for _ in range(jobs // 1000):
        await store.jobs.insert([SPEC] * 1000)
    await store.close()


def _drain_in_processes(path: Path, workers: int) -> float:
    with _child(_drain_here, path, 1) as first, _child(_drain_here, path, 2) as second:
        children = [first, second][:workers]
        for child in children:
            child.recv()
        start = time.perf_counter()
        for child in children:
            child.send("go")
        done = sum(child.recv() for child in children)
        wall = time.perf_counter() - start
        for child in [first, second][workers:]:
            child.send("go")
    return float(done / wall)


def _drain_here(path: Path, number: int, parent: Connection) -> None:
    async def work() -> int:
        store = SqliteStore(path, SystemClock())
        await store.open()
        parent.send("ready")
        parent.recv()
        done = await drain(store, NodeId(f"bench:{number}"))
        await store.close()
        return done

    parent.send(asyncio.run(work()))


@contextmanager
def _child(
    target: Callable[[Path, int, Connection], None], path: Path, number: int
) -> Generator[Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(path, number, theirs))
    process.start()
    try:
        yield ours
    finally:
        process.join()
