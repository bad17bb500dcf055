"""No-op jobs on the memory backend, from submit to settled, on a node with all its services."""

from __future__ import annotations

import asyncio
import time

import msgspec

from drumbeat import Drumbeat
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.telemetry.metrics import Metrics
from drumbeat.telemetry.samples import NodeStatus
from drumbeat.testing import inside

TITLE = "No-op jobs on the memory backend"
BATCH = 1_000


def run(*, quick: bool) -> dict[str, object]:
    """Microseconds of processor time per job in batches, and of the bare calls within."""
    batches = 20 if quick else 100
    submitting, working = asyncio.run(_measure(_plain(), batches))
    bare = asyncio.run(_bare(batches))
    total = submitting + working
    watched = sum(asyncio.run(_measure(_watched(), batches)))
    return {
        "jobs": batches * BATCH,
        "us_per_job": round(total, 2),
        "us_to_submit": round(submitting, 2),
        "us_to_run_and_settle": round(working, 2),
        "bare_us_per_job": round(bare, 2),
        "ratio_to_bare": round(total / bare, 2),
        "us_per_job_with_metrics": round(watched, 2),
        "ratio_with_metrics": round(watched / total, 2),
        "target_us_per_job": 20.0,
    }


def _plain() -> Drumbeat:
    return Drumbeat("memory://", keep_jobs="1m")


def _watched() -> Drumbeat:
    """The same with the metrics of a node that serves HTTP."""
    runtime = SystemRuntime()
    metrics = Metrics(runtime.clock)
    store = metrics.timed_store(MemoryStore(runtime.clock))
    app = Drumbeat(store, runtime=runtime, keep_jobs="1m")
    metrics.attach(inside.setup(app).bus, store, NodeStatus)
    return app


async def _measure(app: Drumbeat, batches: int) -> tuple[float, float]:
    @app.task
    async def nothing(number: int) -> None:
        del number

    calls = [(number,) for number in range(BATCH)]
    submitting = working = 0.0
    async with app.running():
        await app.jobs.wait((await nothing.submit_many(calls))[-1].id)  # warm
        for _ in range(batches):
            start = time.process_time()
            jobs = await nothing.submit_many(calls)
            submitted = time.process_time()
            await app.jobs.wait(jobs[-1].id)
            submitting += submitted - start
            working += time.process_time() - submitted
    each = 1e6 / (batches * BATCH)
    return submitting * each, working * each


async def _bare(batches: int) -> float:
    """The minimum of any queue: encode the arguments, decode them, call the handler."""

    async def nothing(number: int) -> None:
        del number

    encode = msgspec.json.Encoder().encode
    decode = msgspec.json.Decoder(dict[str, int]).decode
    start = time.process_time()
    for _ in range(batches):
        payloads = [encode({"number": number}) for number in range(BATCH)]
        for payload in payloads:
            await nothing(**decode(payload))
    return (time.process_time() - start) * 1e6 / (batches * BATCH)
