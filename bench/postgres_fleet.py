"""Worker processes of a real app on PostgreSQL, with the settings that a user gets."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from drumbeat import Drumbeat, Task
from drumbeat.backends.postgres.connection.client import connect
from drumbeat.engine.lifecycle.own_process import freeze_loaded_objects
from servers import Postgres

LOOK_EVERY = 0.02
LONGEST_WAIT = 180.0
TEXT = "x" * 120
WORKER = ("worker",)

Start = tuple[float, float]
"""The number of a job, and when its handler started."""


@dataclass(frozen=True, slots=True)
class Target:
    """An app's server and namespace."""

    address: str
    namespace: str = "bench"
    queue: str | None = None
    """The address of a queue in front of it; None: none."""

    async def execute(self, *statements: str) -> None:
        """Execute statements outside of the app, without a time limit."""
        connection = await connect(self.address)
        for statement in statements:
            await connection.execute(statement.format(schema=self.namespace))
        await connection.close()

    async def empty(self) -> None:
        """Delete everything."""
        await self.execute("DROP SCHEMA IF EXISTS {schema} CASCADE")


@contextmanager
def server() -> Generator[str]:
    """The server that DRUMBEAT_BENCH_POSTGRES names, or a new one with default settings."""
    given = os.environ.get("DRUMBEAT_BENCH_POSTGRES")
    if given:
        yield given
        return
    with Postgres.start() as ours:
        yield ours.address


class Bench:
    """An app with one task, which only records when it started."""

    def __init__(self, target: Target) -> None:
        self.app = Drumbeat(
            target.address, queue=target.queue, namespace=target.namespace, environment={}
        )
        self.starts: list[Start] = []

        @self.app.task
        async def nothing(number: float, text: str) -> None:  # noqa: ARG001 - only its size matters
            self.starts.append((number, time.monotonic()))

        self.nothing: Task[[float, str], None] = nothing


async def backlog(target: Target, jobs: int) -> None:
    """Submit jobs that are numbered from zero."""
    bench = Bench(target)
    async with bench.app.connected():
        await bench.nothing.submit_many([(number, TEXT) for number in range(jobs)])


def drain(target: Target, jobs: int, workers: int = 1) -> float:
    """Jobs per second of a backlog, from the first to the last start."""
    asyncio.run(backlog(target, jobs))
    with fleet(target, workers) as processes:
        processes.start()
        starts = processes.starts(jobs)
    assert sorted(number for number, _ in starts) == list(range(jobs))
    instants = [instant for _, instant in starts]
    return jobs / (max(instants) - min(instants))


@dataclass(frozen=True, slots=True)
class Fleet:
    """Worker processes, controlled over pipes."""

    processes: Sequence[Connection]

    def start(self) -> None:
        self._ask("start")

    def starts(self, count: int) -> list[Start]:
        """All starts, as soon as there are `count` of them."""
        give_up_at = time.monotonic() + LONGEST_WAIT
        found: list[Start] = []
        while len(found) < count and time.monotonic() < give_up_at:
            time.sleep(LOOK_EVERY)
            if sum(self._ask("count")) + len(found) >= count:
                for each in self._ask("starts"):
                    found += each
        assert len(found) == count, f"{len(found):,} runs of {count:,} jobs"
        return found

    def _ask(self, question: str) -> list[Any]:
        for process in self.processes:
            process.send(question)
        return [process.recv() for process in self.processes]


@contextmanager
def fleet(target: Target, workers: int, roles: tuple[str, ...] = WORKER) -> Generator[Fleet]:
    """Worker processes that are ready to start."""
    context = get_context("spawn")
    with ExitStack() as stack:
        connections: list[Connection] = []
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(target, roles, theirs))
            process.start()
            stack.callback(process.join)
            stack.callback(ours.send, None)
            connections.append(ours)
        for connection in connections:
            connection.recv()
        yield Fleet(connections)


def _work(target: Target, roles: tuple[str, ...], parent: Connection) -> None:
    asyncio.run(_serve(Bench(target), roles, parent))


async def _serve(bench: Bench, roles: tuple[str, ...], parent: Connection) -> None:
    loop = asyncio.get_running_loop()
    parent.send("ready")
    while (order := await loop.run_in_executor(None, parent.recv)) is not None:
        match order:
            case "start":
                await bench.app.start(roles)
                freeze_loaded_objects()  # as `app.run()` does
                parent.send("started")
            case "count":
                parent.send(len(bench.starts))
            case "starts":
                starts, bench.starts[:] = list(bench.starts), []
                parent.send(starts)
            case _:
                raise ValueError(order)
    await bench.app.stop()
