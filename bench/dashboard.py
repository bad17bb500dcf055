"""The requests of the dashboard on a large SQLite store, in one process and without a socket.

10,000 schedules with ten ticks each, and five million jobs. Each request is repeated; the first one
after a pause of five seconds also reads the list of all schedules.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from drumbeat import Drumbeat
from drumbeat.dashboard.site import Site
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Edit, Fire
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.wire.new_schedule import NewScheduleView

TITLE = "Requests of the dashboard"
PATHS = (
    "/overview",
    "/overview/history",
    "/overview/schedules",
    "/overview/schedules?search=99&order=-name",
    "/overview/schedules?order=state",
    "/overview/timeline",
    "/overview/errors",
    "/overview/backends",
    "/schedules/s-000099",
    "/schedules/s-000099/explain?ticks=50&tz=Europe/Paris",
    "/schedules/s-000099/preview?n=20",
    "/jobs?limit=50",
    "/jobs?task=work&limit=50",
    "/jobs?queue=q3&status=queued&limit=50",
    "/jobs?status=failed&limit=50",
    "/jobs?status=queued&limit=50",
    "/jobs/2500",
    "/jobs/2500/attempts",
    "/queues",
    "/nodes",
    "/elections/scheduler",
    "/elections/scheduler/history?limit=50",
    "/audit?limit=50",
)
TICKS = 10
ROUNDS = 10
BATCH = 1_000


def run(*, quick: bool) -> dict[str, object]:
    """Milliseconds of each request: the first, the median, and the processor's time."""
    schedules, jobs = (200, 5_000) if quick else (10_000, 5_000_000)
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder), schedules, jobs))


async def _measured(folder: Path, schedules: int, jobs: int) -> dict[str, object]:
    app = Drumbeat(f"sqlite:///{folder / 'large.db'}", environment={}, insecure=True)

    @app.task
    async def work(number: int = 0) -> None: ...

    site = app.asgi()
    await app.store.open()
    try:
        await _fill(app, schedules, jobs)
        figures: dict[str, object] = {"schedules": schedules, "jobs": jobs}
        for path in PATHS:
            figures[path] = await _times(site, path)
        return figures
    finally:
        await app.store.close()


async def _times(site: Site[Any], path: str) -> dict[str, float]:
    times: list[float] = []
    processor = time.process_time()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await _ask(site, path)
        times.append((time.perf_counter() - began) * 1_000)
    processor = (time.process_time() - processor) * 1_000 / ROUNDS
    median = statistics.median(times)
    return {
        "first_ms": round(times[0], 1),
        "median_ms": round(median, 1),
        "processor_ms": round(processor, 1),
    }


async def _ask(site: Site[Any], path: str) -> None:
    where, _, query = path.partition("?")
    connection = {
        "type": "http",
        "method": "GET",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "scheme": "http",
    }
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        statuses.append(message.get("status", 0))

    await site(connection, receive, send)
    if statuses[0] != 200:
        raise DrumbeatError(f"{path} answered {statuses[0]}")


async def _fill(app: Drumbeat, schedules: int, jobs: int) -> None:
    store, now = app.store, datetime.now(UTC)
    first = NewScheduleView(name="s-000000", task="work", when="0 2 * * *", args={"number": 1})
    await app.fleet.schedules.create(first)
    (model,) = (await store.schedules.list(PageRequest(1))).items
    for start in range(1, schedules, BATCH):
        edits = [_new(model, number) for number in range(start, min(schedules, start + BATCH))]
        await store.schedules.put(edits)
    for number in range(schedules):
        spec = JobSpec("work", b'{"number": 1}', schedule=f"s-{number:06}")
        ticks = [now - timedelta(hours=age) for age in range(1, TICKS + 1)]
        fires = [Fire(tick, replace(spec, tick_at=tick)) for tick in ticks]
        await store.schedules.backfill(f"s-{number:06}", fires)
    specs = [JobSpec("work", b'{"number": 1}', queue=f"q{number % 20}") for number in range(BATCH)]
    for _ in range(jobs // BATCH):
        await store.jobs.insert(specs)


def _new(model: StoredSchedule, number: int) -> Edit:
    schedule = replace(model.schedule, name=f"s-{number:06}", description=f"number {number}")
    return Edit(None, replace(model, schedule=schedule))
