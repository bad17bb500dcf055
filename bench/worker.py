"""A worker with default settings, beside a bare loop on the same store.

Bare means: take a hundred jobs, settle them with the next hundred, run nothing. The worker does the
same and runs a handler for each job, on an event loop with all services of a node. Other figures: a
mix in which every hundredth job sleeps for 100 ms, and the wait of a lone job for an idle worker.
`DRUMBEAT_BENCH_POSTGRES=postgresql://...` adds a server; use a database that may be written to.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from drumbeat import Drumbeat
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Change, JobSpec, Settlement, Wanted
from drumbeat.testing import inside

TITLE = "The worker beside its store"
BATCH = 100
FILLED = 1_000
"""The batch size of submissions before the measurement."""
SLOW_EVERY = 100
SLOW = 0.1
ROUNDS = 5
NODE = NodeId("bench:1")

new_settlement = fast_constructor(Settlement)


def run(*, quick: bool) -> dict[str, object]:
    """Jobs per second of the worker, as a share of the bare loop's; milliseconds of a pick-up."""
    jobs = 5_000 if quick else 20_000
    rounds = 1 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        return {
            kind: _figures(new_address, jobs, rounds)
            for kind, new_address in _addresses(Path(folder)).items()
        }


def _addresses(folder: Path) -> dict[str, Callable[[], str]]:
    """A function that returns the address of an empty store, by kind of store."""
    names = (f"{folder}/{number}.db" for number in range(1_000))
    addresses: dict[str, Callable[[], str]] = {
        "memory": lambda: "memory://",
        "sqlite": lambda: f"sqlite:///{next(names)}",
    }
    postgres = os.environ.get("DRUMBEAT_BENCH_POSTGRES")
    if postgres:
        addresses["postgres"] = lambda: postgres
    return addresses


def _figures(new_address: Callable[[], str], jobs: int, rounds: int) -> dict[str, object]:
    drains = [asyncio.run(_one_round(new_address, jobs)) for _ in range(rounds)]
    waits = asyncio.run(_pick_up(new_address(), 50 if rounds == 1 else 300))
    bare, worker, mixed = zip(*drains, strict=True)
    return {
        "bare_per_second": round(statistics.median(bare)),
        "worker_per_second": round(statistics.median(worker)),
        "worker_to_bare": round(_ratio(worker, bare), 2),
        "mixed_per_second": round(statistics.median(mixed)),
        "mixed_to_worker": round(_ratio(mixed, worker), 2),
        "pick_up_p50_ms": round(statistics.median(waits) * 1000, 2),
        "pick_up_p99_ms": round(statistics.quantiles(waits, n=100)[-1] * 1000, 2),
    }


def _ratio(ours: tuple[float, ...], theirs: tuple[float, ...]) -> float:
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


async def _one_round(new_address: Callable[[], str], jobs: int) -> tuple[float, float, float]:
    bare = await _bare(new_address(), jobs)
    worker = await _worker(new_address(), [0.0] * jobs)
    slow = [0.0 if number % SLOW_EVERY else SLOW for number in range(jobs)]
    return jobs / bare, jobs / worker, jobs / await _worker(new_address(), slow)


async def _bare(address: str, jobs: int) -> float:
    """Seconds for taking and settling only."""
    bench = BenchApp(address, jobs)
    await bench.fill([0.0] * jobs)
    store = inside.setup(bench.app).backends.store
    wanted = Wanted(("default",), bench.app.tasks, BATCH)
    settled: list[Settlement] = []
    start = time.perf_counter()
    while True:
        taken = await store.jobs.take(wanted, NODE, settled)
        if not taken.attempts:
            break
        settled = [new_settlement(each.hold, Change.COMPLETE) for each in taken.attempts]
    wall = time.perf_counter() - start
    await bench.app.stop()
    return wall


async def _worker(address: str, pauses: list[float]) -> float:
    """Seconds from the start of a node until its last job is settled."""
    bench = BenchApp(address, len(pauses))
    await bench.fill(pauses)
    await bench.app.start((Role.WORKER,))
    start = time.perf_counter()
    await bench.all_began.wait()  # polling the store would slow it down
    await bench.app.wait_until_idle()
    wall = time.perf_counter() - start
    assert len(bench.began) == len(pauses), "each job is run once"
    await bench.app.stop()
    return wall


async def _pick_up(address: str, count: int) -> list[float]:
    """Seconds from the call that submits to the handler's first line, one job at a time."""
    bench = BenchApp(address, count)
    submitted: list[float] = []
    await bench.app.start((Role.WORKER,))
    for _ in range(count):
        await asyncio.sleep(0.01)
        submitted.append(time.perf_counter())
        job = await bench.app.jobs.submit("nothing", [0.0])
        await bench.app.jobs.wait(job.id)
    await bench.app.stop()
    return [began - start for began, start in zip(bench.began, submitted, strict=True)]


class BenchApp:
    """An app with default settings, and the start of each of its handlers."""

    def __init__(self, address: str, jobs: int) -> None:
        self.app = Drumbeat(address)
        self.began: list[float] = []
        self.all_began = asyncio.Event()

        @self.app.task
        async def nothing(pause: float) -> None:
            self.began.append(time.perf_counter())
            if len(self.began) == jobs:
                self.all_began.set()
            if pause:
                await asyncio.sleep(pause)

    async def fill(self, pauses: list[float]) -> None:
        """Submit a job for each pause."""
        backends = inside.setup(self.app).backends
        await backends.open()
        for start in range(0, len(pauses), FILLED):
            specs = [
                JobSpec("nothing", b'{"pause":%s}' % str(pause).encode())
                for pause in pauses[start : start + FILLED]
            ]
            await backends.store.jobs.insert(specs)
