"""A SQLite file in the long run: the cost of an idle node, and a file full of finished jobs.

The idle node is the real command, `drumbeat run`, on an empty file: the figure is its processor
time while it leads and waits for work. The full file has the finished jobs of a busy week, written
by plain SQL as the store would have written them. The same jobs are then submitted and drained on
it and on an empty file, alternately.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench.due_schedules import PAYLOAD
from bench.sqlite_jobs import BATCH, NODE, SPEC, drain, temporary_folder
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock

TITLE = "SQLite in the long run"
ROUNDS = 5
STARTS_WITHIN = 3.0
"""Seconds for a node to start and to be elected."""
APP = """
from drumbeat import Drumbeat

app = Drumbeat()


@app.task
async def nothing() -> None:
    pass
"""
NUMBERS = (
    "WITH RECURSIVE number (id) AS (SELECT :first UNION ALL SELECT id + 1 FROM number LIMIT :n)"
)
FINISHED_JOBS = f"""
{NUMBERS} INSERT INTO jobs (id, limit_group, rank, run_at, created_at, arguments)
SELECT id, :limit_group, 0, :now, :now, :arguments FROM number
"""
FINISHED = f"""
{NUMBERS} INSERT INTO finished (id, status, finished_at, attempt, fence, node, started_at)
SELECT id, 'completed', :now + id, 1, 1, :node, :now FROM number
"""


def run(*, quick: bool) -> dict[str, object]:
    """Percent of one processor, and the ratios of a full file to an empty one."""
    return _idle(5.0 if quick else 20.0) | _full(100_000 if quick else 1_000_000, quick=quick)


def _idle(seconds: float) -> dict[str, object]:
    with temporary_folder() as folder, _node(folder) as process:
        time.sleep(STARTS_WITHIN)
        before = _processor_seconds(process.pid)
        time.sleep(seconds)
        used = _processor_seconds(process.pid) - before
    return {
        "idle_node_cpu_percent": round(100 * used / seconds, 2),
        "idle_node_watched_seconds": seconds,
        "target_idle_cpu_percent": 1.0,
    }


@contextmanager
def _node(folder: Path) -> Generator[subprocess.Popen[bytes]]:
    (folder / "idle_app.py").write_text(APP)
    command = (sys.executable, "-m", "drumbeat", "run", "idle_app:app")
    address = f"sqlite:///{folder / 'idle.db'}"
    process = subprocess.Popen(
        [*command, "--store", address, "--log-level", "ERROR"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )
    try:
        yield process
        if process.poll() is not None:
            message = f"the idle node ended by itself, with code {process.returncode}"
            raise RuntimeError(message)
    finally:
        process.terminate()
        process.wait()


def _processor_seconds(process: int) -> float:
    """The processor seconds of the process so far, in user and system mode."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _full(finished: int, *, quick: bool) -> dict[str, object]:
    with temporary_folder() as folder:
        paths = {"empty": folder / "empty.db", "full": folder / "full.db"}
        start = time.perf_counter()
        asyncio.run(_fill(paths["full"], finished))
        filled = time.perf_counter() - start
        rounds = [
            {
                name: asyncio.run(_work(path, 5_000 if quick else 20_000))
                for name, path in paths.items()
            }
            for _ in range(1 if quick else ROUNDS)
        ]
    ratios = {
        part: statistics.median(each["full"][part] / each["empty"][part] for each in rounds)
        for part in ("submit", "drain")
    }
    return {
        "finished_jobs_in_the_file": finished,
        "filled_in_seconds": round(filled, 1),
        "submit_full_to_empty": round(ratios["submit"], 2),
        "drain_full_to_empty": round(ratios["drain"], 2),
    }


async def _fill(path: Path, finished: int) -> None:
    """Fill a file with finished jobs that are older than all that follow."""
    store = SqliteStore(path, SystemClock())
    await store.jobs.insert([SPEC])  # creates the limit group of all these jobs
    await drain(store, NODE)
    await store.close()
    connection = sqlite3.connect(path, isolation_level=None)
    ((limit_group,),) = connection.execute("SELECT id FROM limit_groups").fetchall()
    ((last,),) = connection.execute("SELECT job FROM counters").fetchall()
    values = {"limit_group": limit_group, "first": last + 1, "n": finished, "arguments": PAYLOAD}
    values |= {"now": time.time_ns() // 1000 - finished, "node": NODE}
    connection.execute("BEGIN")
    connection.execute(FINISHED_JOBS, values)
    connection.execute(FINISHED, values)
    connection.execute("UPDATE counters SET job = job + ?", (finished,))
    connection.execute("UPDATE lanes SET completed = completed + ?", (finished,))
    connection.execute("COMMIT")
    connection.close()


async def _work(path: Path, jobs: int) -> dict[str, float]:
    """Jobs per second, submitted in batches and then drained."""
    store = SqliteStore(path, SystemClock())
    await store.open()
    start = time.perf_counter()
    for _ in range(jobs // BATCH):
        await store.jobs.insert([SPEC] * BATCH)
    submitted = time.perf_counter()
    done = await drain(store, NODE)
    drained = time.perf_counter()
    assert done == jobs, f"{done:,} of {jobs:,} jobs were drained"
    await store.close()
    return {"submit": jobs / (submitted - start), "drain": jobs / (drained - submitted)}
