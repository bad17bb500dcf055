"""`drumbeat bench`: how fast a store is on this machine."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from drumbeat.app import Drumbeat
from drumbeat.cli.command import STORE, make_command
from drumbeat.cli.options.option import whole
from drumbeat.cli.output.output import Output
from drumbeat.cli.output.tables import below, note, table
from drumbeat.cli.session.session import Session
from drumbeat.engine.plumbing.runtime import SystemClock

BATCH = 1_000
SINGLES = 200
"""Jobs that are submitted and awaited one by one, for the latency."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The measurements."""

    store: str
    jobs: int
    submit_seconds: float
    drain_seconds: float
    latencies: tuple[float, ...]
    """Seconds from the submission of a job to its completion, on an idle node; sorted."""

    def shape(self) -> dict[str, object]:
        return {
            "store": self.store,
            "jobs": self.jobs,
            "submitted_per_second": round(self.jobs / self.submit_seconds),
            "run_per_second": round(self.jobs / self.drain_seconds),
            "latency_p50_ms": round(self._quantile(0.5) * 1000, 3),
            "latency_p99_ms": round(self._quantile(0.99) * 1000, 3),
        }

    def _quantile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * share))]


@make_command(
    "bench",
    whole("--jobs", "The number of jobs.", most=1_000_000, default=10_000),
    whole("--concurrency", "How many jobs run at once.", most=10_000, default=100),
)
def command(session: Session, jobs: int, concurrency: int) -> None:
    """Submit jobs that do nothing, run them, and print how fast that was.

    Uses a temporary SQLite file, or the store that --store names. Do not use a store of a running
    fleet.

    Example:
      drumbeat bench
      drumbeat bench --store memory:// --jobs 50000 -o json
    """
    with tempfile.TemporaryDirectory(prefix="drumbeat-bench-") as folder:
        store = session.settings.get(STORE) or f"sqlite:///{Path(folder) / 'bench.db'}"
        app = Drumbeat(store, environment={}, concurrency=concurrency, instance_id="bench")
        figures = asyncio.run(measure(app, jobs, session.output))
    session.output.show(figures.shape(), _table(figures))


async def measure(app: Drumbeat, jobs: int, output: Output) -> Figures:
    """Submit all jobs and run them, then run some one by one."""
    clock = SystemClock()
    waited: list[float] = []

    @app.task(name="drumbeat-bench")
    async def nothing(number: int) -> None:
        del number

    talk = output.error_console()
    from rich.progress import Progress  # noqa: PLC0415 - the help does not need it

    with Progress(console=talk, transient=True, disable=not talk.is_terminal) as progress:
        bar = progress.add_task("Submitting", total=jobs * 2 + SINGLES)
        async with app.connected():
            start = clock.elapsed()
            for first in range(0, jobs, BATCH):
                batch = range(first, min(first + BATCH, jobs))
                await nothing.submit_many([(number,) for number in batch])
                progress.advance(bar, len(batch))
            submitted = clock.elapsed() - start
        start = clock.elapsed()
        async with app.running(["worker"]):
            progress.update(bar, description="Running")
            await app.wait_until_idle()
            drained = clock.elapsed() - start
            progress.advance(bar, jobs)
            for number in range(SINGLES):
                start = clock.elapsed()
                job = await nothing.submit(number)
                await app.jobs.wait(job.id)
                waited.append(clock.elapsed() - start)
                progress.advance(bar)
    return Figures(app.settings.shown("store"), jobs, submitted, drained, tuple(sorted(waited)))


def _table(figures: Figures) -> RenderableType:
    shape = figures.shape()
    rows = (
        ("submitted, in batches of 1,000", f"{shape['submitted_per_second']:,} jobs/s"),
        ("claimed, run and completed", f"{shape['run_per_second']:,} jobs/s"),
        ("one job, from submit to completion, median", f"{shape['latency_p50_ms']} ms"),
        ("the slowest one in a hundred", f"{shape['latency_p99_ms']} ms"),
    )
    remark = f"{figures.jobs:,} jobs on {figures.store}, one node, handlers that do nothing"
    return below(table(("measured", ">"), rows), note(remark))
