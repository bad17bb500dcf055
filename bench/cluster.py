"""A cluster of processes on PostgreSQL, Redis and three etcd members, as it is deployed.

A scheduler serves HTTP, workers run the jobs, and all addresses come from the environment, as on
the page on deployment. Clients, nodes and servers share the machine. Each job of the last part
waits 50 ms and does nothing else, and each worker runs 5 at once: so the workers and the duration
of the jobs set the speed, and not the processor.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp

from servers import Etcd, Postgres, Redis
from servers.ports import free_port

TITLE = "A cluster on PostgreSQL, Redis and etcd"
APP = """
import asyncio

from drumbeat import Drumbeat

app = Drumbeat(default_task="work")


@app.task
async def work(data: str) -> None: ...


@app.task(queue="slow")
async def slow() -> None:
    await asyncio.sleep(0.05)
"""
CALLERS = 100
REQUESTS = 10_000
IDLE = 100
"""How many jobs are submitted one after the other, each after the end of the last."""
PER_WORKER = 500
"""Slow jobs for each worker."""
WORKERS = (1, 2, 4)
CONCURRENCY = 5
PATIENCE = 60.0
BATCH = 500


def run(*, quick: bool) -> dict[str, object]:
    """Our figures, each beside the one of the document that describes the system."""
    share = 20 if quick else 1
    with cluster() as fleet, fleet.node("worker", DRUMBEAT_QUEUES="default"):
        idle = asyncio.run(_idle(fleet, IDLE // share))
        load = asyncio.run(_load(fleet, REQUESTS // share))
        rates = [_drained(fleet, count, PER_WORKER // share) for count in WORKERS]
    submits, starts = zip(*idle, strict=True)
    return {
        "submissions_per_second": round(load["rate"]),
        "document_submissions_per_second": 1_000,
        "submit_p50_ms": round(statistics.median(submits), 1),
        "submit_slowest_ms": round(max(submits), 1),
        "submit_p50_ms_under_load": round(load["p50"], 1),
        "document_submit_ms": "under 10",
        "start_p50_ms": round(statistics.median(starts), 1),
        "start_slowest_ms": round(max(starts), 1),
        "document_start_ms": "under 1000",
        **{
            f"jobs_per_second_of_{count}_workers": round(rate)
            for count, rate in zip(WORKERS, rates, strict=True)
        },
        "speedup_by_workers": [round(rate / rates[0], 2) for rate in rates],
        "document_speedup": list(WORKERS),
    }


class Fleet:
    """The processes of a cluster, which the environment configures."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self._folder = folder
        self._variables = variables
        self.url = ""

    @contextmanager
    def node(self, role: str, **variables: str) -> Generator[None]:
        """A node, for as long as the body takes."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        port = free_port()
        address = "WORKER_HTTP_ADDR" if role == "worker" else "HTTP_ADDR"
        url = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            [sys.executable, "-m", "drumbeat", role, "jobs:app"],
            cwd=self._folder,
            env={**kept, **self._variables, address: f"127.0.0.1:{port}", **variables},
        )
        try:
            self._wait(url)
            self.url = url if role == "scheduler" else self.url
            yield
        finally:
            process.terminate()
            process.wait()

    def _wait(self, url: str) -> None:
        command = [sys.executable, "-m", "drumbeat", "healthcheck", url]
        give_up_at = time.monotonic() + PATIENCE
        while subprocess.run(command, capture_output=True, check=False).returncode:
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"{url} is not ready after {PATIENCE:g} s")

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[aiohttp.ClientSession]:
        connector = aiohttp.TCPConnector(limit=CALLERS)
        async with aiohttp.ClientSession(self.url, connector=connector) as session:
            yield session


@contextmanager
def cluster() -> Generator[Fleet]:
    """The servers and a scheduler."""
    with ExitStack() as stack:
        postgres = stack.enter_context(Postgres.start())
        redis = stack.enter_context(Redis.start())
        etcd = stack.enter_context(Etcd.start(nodes=3))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drumbeat-bench-")))
        (folder / "jobs.py").write_text(APP, encoding="utf-8")
        variables = {
            "POSTGRES_DSN": f"{postgres.address}?sslmode=disable",
            "REDIS_URL": f"127.0.0.1:{redis.port}",
            "ETCD_ENDPOINTS": etcd.address.removeprefix("etcd://"),
            "LOG_LEVEL": "ERROR",
        }
        fleet = Fleet(folder, variables)
        stack.enter_context(fleet.node("scheduler"))
        yield fleet


async def _idle(fleet: Fleet, count: int) -> list[tuple[float, float]]:
    """Milliseconds of each submission, and from the creation of each job to its start."""
    found: list[tuple[float, float]] = []
    async with fleet.session() as session:
        for number in range(count):
            began = time.perf_counter()
            job = await _created(session, {"payload": f"idle {number}"})
            submitted = (time.perf_counter() - began) * 1000
            async with session.get(f"/jobs/{job['id']}/wait?timeout=30") as answer:
                done = await answer.json()
            created, started = (
                datetime.fromisoformat(done[name]) for name in ("created_at", "started_at")
            )
            found.append((submitted, (started - created).total_seconds() * 1000))
    return found


async def _load(fleet: Fleet, count: int) -> dict[str, float]:
    """Submissions per second by many callers at once, and the median time of one."""
    numbers, times = iter(range(count)), list[float]()
    async with fleet.session() as session:

        async def call() -> None:
            for number in numbers:
                began = time.perf_counter()
                await _created(session, {"payload": f"load {number}", "priority": 5})
                times.append((time.perf_counter() - began) * 1000)

        began = time.perf_counter()
        await asyncio.gather(*(call() for _ in range(CALLERS)))
        took = time.perf_counter() - began
        await _until_idle(session)
    return {"rate": count / took, "p50": statistics.median(times)}


def _drained(fleet: Fleet, workers: int, each: int) -> float:
    """Slow jobs per second by this many workers, which find them queued."""
    with ExitStack() as stack:
        jobs = list(_slow_jobs(workers * each))
        for _ in range(workers):
            settings = {"DRUMBEAT_QUEUES": "slow", "DRUMBEAT_CONCURRENCY": str(CONCURRENCY)}
            stack.enter_context(fleet.node("worker", **settings))
        return asyncio.run(_timed(fleet, jobs))


def _slow_jobs(count: int) -> Iterator[dict[str, Any]]:
    return ({"task": "slow", "args": {}, "queue": "slow"} for _ in range(count))


async def _timed(fleet: Fleet, jobs: Sequence[dict[str, Any]]) -> float:
    async with fleet.session() as session:
        began = time.perf_counter()
        for first in range(0, len(jobs), BATCH):
            async with session.post(
                "/jobs/batch", json={"jobs": jobs[first : first + BATCH]}
            ) as answer:
                assert answer.status == 201, await answer.text()
        await _until_idle(session)
        return len(jobs) / (time.perf_counter() - began)


async def _created(session: aiohttp.ClientSession, body: dict[str, Any]) -> dict[str, Any]:
    async with session.post("/jobs", json=body) as answer:
        job: dict[str, Any] = await answer.json()
        assert answer.status == 201, job
        return job


async def _until_idle(session: aiohttp.ClientSession) -> None:
    while True:
        async with session.get("/jobs?status=queued,running&limit=1") as answer:
            if not await answer.json():
                return
        await asyncio.sleep(0.02)
