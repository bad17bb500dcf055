"""Jobs posted over HTTP by wrk, beside empty answers of the same server.

One API process on PostgreSQL, as `drumbeat api` runs it, and 64 connections that each wait for the
answer before they send again. Client, API and PostgreSQL share the machine. The empty answers come
from the same server class on the same event loop, which reads the same body and answers 201.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec

from bench.postgres_fleet import TEXT, Target, server
from drumbeat import Drumbeat
from drumbeat.api.http.server import Server
from drumbeat.engine.lifecycle.own_process import fastest_loop, freeze_loaded_objects

TITLE = "POST /jobs over HTTP"
CONNECTIONS = 64
ROUNDS = 3
TOKEN = "a token of the benchmark"
BODY = msgspec.json.encode({"task": "nothing", "args": {"number": 1, "text": TEXT}}).decode()
SCRIPT = """
wrk.method = "POST"
wrk.body = [[{body}]]
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {token}"
"""
RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
P99 = re.compile(r"99%\s+([\d.]+)(us|ms|s)")
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
READY = 30.0


def run(*, quick: bool) -> dict[str, object]:
    """Requests per second, the 99th percentile, and the ratio to an empty answer."""
    if shutil.which("wrk") is None:
        return {"NOT MEASURED": "wrk is not installed: apt install wrk"}
    seconds = 2 if quick else 5
    rates: list[float] = []
    ratios: list[float] = []
    slowest: list[float] = []
    processor: list[float] = []
    empty: list[float] = []
    with server() as address:
        target = Target(address)
        for _ in range(1 if quick else ROUNDS):
            asyncio.run(target.empty())
            with _process(_empty_server, target) as nothing:
                bare = _load(nothing, seconds)
            with _process(_api, target) as api:
                ours = _load(api, seconds)
            rates.append(ours.rate)
            ratios.append(ours.rate / bare.rate)
            slowest.append(ours.p99)
            processor.append(ours.processor)
            empty.append(bare.processor)
        asyncio.run(target.empty())
    return {
        "connections": CONNECTIONS,
        "posts_per_second": round(statistics.median(rates)),
        "target_posts_per_second": 5_000,
        "p99_ms": round(max(slowest), 1),
        "target_p99_ms": "under 30",
        "to_an_empty_201": round(statistics.median(ratios), 2),
        "target_to_an_empty_201": 0.6,
        "processor_us_per_post": round(statistics.median(processor) * 1e6, 1),
        "processor_of_an_empty_201_us": round(statistics.median(empty) * 1e6, 1),
    }


class Load(msgspec.Struct, frozen=True):
    """The results of wrk, and the processor time of the server."""

    rate: float
    p99: float
    processor: float
    """Processor seconds of the server for each request."""


def _load(process: Process, seconds: int) -> Load:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "post.lua"
        script.write_text(SCRIPT.format(body=BODY, token=TOKEN), encoding="utf-8")
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", "--latency", "-s", str(script)]
        url = f"http://{process.address}/jobs"
        subprocess.run([*command, "-d1s", url], check=True, capture_output=True)  # warm
        before, began = process.processor(), time.perf_counter()
        output = subprocess.run(
            [*command, f"-d{seconds}s", url], check=True, capture_output=True, text=True
        ).stdout
        spent, took = process.processor() - before, time.perf_counter() - began
    assert "Non-2xx" not in output, output
    rate, p99 = RATE.search(output), P99.search(output)
    assert rate is not None, output
    assert p99 is not None, output
    requests = float(rate[1])
    return Load(requests, float(p99[1]) * MILLISECONDS[p99[2]], spent / (requests * took))


class Process:
    """A server process, queried over a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        if not pipe.poll(READY):
            raise RuntimeError(f"the server did not start within {READY:g} s")
        self.address: str = pipe.recv()

    def processor(self) -> float:
        """Its processor seconds so far."""
        self._pipe.send("processor")
        return float(self._pipe.recv())


@contextmanager
def _process(serve: Any, target: Target) -> Generator[Process]:
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(serve, target, theirs))
    process.start()
    try:
        yield Process(ours)
    finally:
        ours.send("stop")
        process.join()


def _serve(serve: Any, target: Target, pipe: Connection) -> None:
    with asyncio.Runner(loop_factory=fastest_loop()) as runner:
        runner.run(serve(target, pipe))


async def _api(target: Target, pipe: Connection) -> None:
    app = Drumbeat(
        target.address,
        namespace=target.namespace,
        environment={},
        http_addr="127.0.0.1:0",
        api_token=TOKEN,
    )

    @app.task(name="nothing")
    async def nothing(number: float, text: str) -> None: ...

    async with app.running(["api"]):
        freeze_loaded_objects()  # as `app.run()` does
        await _serve_until_stopped(app.addresses[0], pipe)


async def _empty_server(target: Target, pipe: Connection) -> None:
    del target

    async def empty(_connection: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    serving = Server(empty, "127.0.0.1:0")
    await serving.start()
    freeze_loaded_objects()
    await _serve_until_stopped(serving.address, pipe)
    await serving.stop()


async def _serve_until_stopped(address: str, pipe: Connection) -> None:
    pipe.send(address)
    while await asyncio.to_thread(pipe.recv) != "stop":
        pipe.send(time.process_time())
