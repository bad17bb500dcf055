"""How late ticks start, stage by stage: ten schedules that are due together in every second.

Lateness is the time from a tick's instant to the first line of its handler, with an app that sets
nothing but its store. It is measured in one process with all roles, and in two: a leader and a
worker. The stages are instants after the tick's own: when the leader asked the store for due
schedules and had them (only if it asked at the tick), when it asked to commit the tick and had the
answer, and when the worker asked for the job and had it. The calls of the store are counted too,
and the processor time of each process, also of idle ones without schedules.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from bench.postgres_fleet import Target, server
from drumbeat import Context, Drumbeat, every
from drumbeat.engine.lifecycle.own_process import freeze_loaded_objects
from drumbeat.ports.store import Store
from drumbeat.telemetry.timed_store import PARTS
from drumbeat.testing import inside

TITLE = "Lateness of ticks"
SCHEDULES = 10
WARM = 3.0
"""Seconds before the measurement: statements are planned, and the pool has its connections."""
STAGES = ("read asked", "read", "commit asked", "committed", "claim asked", "claimed", "started")
ALL_ROLES = ("scheduler", "worker")
PROCESSES: dict[str, Sequence[tuple[str, ...]]] = {
    "one process": (ALL_ROLES,),
    "leader and worker": (("scheduler",), ("worker",)),
    "three nodes": (ALL_ROLES,) * 3,
}

Instants = dict[float, dict[str, list[float]]]
"""The instants of each stage, by the instant of the tick."""


@dataclass(slots=True)
class Trace:
    """What one process has recorded."""

    instants: Instants = field(default_factory=dict[float, dict[str, list[float]]])
    calls: Counter[str] = field(default_factory=Counter[str])
    processor: float = 0.0
    """Seconds."""

    def note(self, tick: float, stage: str, instant: float) -> None:
        self.instants.setdefault(tick, {}).setdefault(stage, []).append(instant)


class TracedStore:
    """A store that records its calls."""

    def __init__(self, store: Store, trace: Trace) -> None:
        self._store = store
        self._trace = trace

    def __getattr__(self, name: str) -> Any:  # Any: whatever the store has
        member = getattr(self._store, name)
        if name in PARTS:
            member = _TracedPart(member, name, self._trace)
            setattr(self, name, member)
        return member


class _TracedPart:
    def __init__(self, part: object, name: str, trace: Trace) -> None:
        self._part = part
        self._name = name
        self._trace = trace

    def __getattr__(self, name: str) -> Any:  # Any: whatever the part has
        call, operation, trace = getattr(self._part, name), f"{self._name}.{name}", self._trace

        async def traced(*args: Any, **kwargs: Any) -> Any:
            trace.calls[operation] += 1
            asked = time.time()
            answer = await call(*args, **kwargs)
            answered = time.time()
            for tick, stages in _ticks_of(operation, args, answer):
                trace.note(tick, stages[0], asked)
                trace.note(tick, stages[1], answered)
            return answer

        setattr(self, name, traced)
        return traced


def _ticks_of(
    operation: str, args: Sequence[Any], answer: Any
) -> Generator[tuple[float, tuple[str, str]]]:
    """The ticks that a call was about, and the stages that it begins and ends."""
    match operation:
        case "schedules.due":
            for each in answer.schedules:
                if each.stored.next_tick <= answer.as_of:
                    yield each.stored.next_tick.timestamp(), ("read asked", "read")
        case "schedules.commit":
            for plan in args[0]:
                for fire in plan.fires:
                    yield fire.tick_at.timestamp(), ("commit asked", "committed")
        case "jobs.take":
            for attempt in answer.attempts:
                if attempt.spec.tick_at is not None:
                    yield attempt.spec.tick_at.timestamp(), ("claim asked", "claimed")
        case _:
            pass


def run(*, quick: bool) -> dict[str, object]:
    """Milliseconds of lateness and of its stages, by store and processes."""
    seconds, idle = (5.0, 5.0) if quick else (60.0, 30.0)
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name, server() as postgres:
        for store, processes in product(("memory", "sqlite", "postgres"), PROCESSES):
            roles = PROCESSES[processes]
            if store == "memory" and len(roles) > 1:
                continue
            for schedules in (SCHEDULES, 0):
                namespace = f"lateness_{len(roles)}_{schedules}"
                address = {
                    "memory": "memory://",
                    "sqlite": f"sqlite:///{Path(name) / namespace}.db",
                    "postgres": postgres,
                }[store]
                if store == "postgres":
                    asyncio.run(Target(postgres, namespace).empty())
                setting = Setting(address, namespace, schedules)
                if schedules:
                    found = traces(setting, roles, seconds)
                    figures[f"{store}, {processes}"] = shown(found, seconds)
                else:
                    found = traces(setting, roles, idle)
                    figures[f"{store}, {processes}, idle"] = cost(found, idle)
    return figures


@dataclass(frozen=True, slots=True)
class Setting:
    """An app's store, and how many schedules it has."""

    store: str
    namespace: str
    schedules: int


def traces(setting: Setting, roles: Sequence[tuple[str, ...]], seconds: float) -> Sequence[Trace]:
    """Run a process for each of these roles for a while, and return what they recorded."""
    with _processes(setting, roles) as processes:
        time.sleep(WARM)
        for process in processes:
            process.send("begin")
        time.sleep(seconds)
        for process in processes:
            process.send("end")
        return [process.recv() for process in processes]


@contextmanager
def _processes(
    setting: Setting, roles: Sequence[tuple[str, ...]]
) -> Generator[Sequence[Connection]]:
    context = get_context("spawn")
    connections: list[Connection] = []
    running: list[Any] = []
    try:
        for each in roles:
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(setting, each, theirs))
            process.start()
            running.append(process)
            connections.append(ours)
            ours.recv()
        yield connections
    finally:
        for connection in connections:
            connection.send("stop")
        for process in running:
            process.join()


def _work(setting: Setting, roles: tuple[str, ...], parent: Connection) -> None:
    asyncio.run(_serve(setting, roles, parent))


async def _serve(setting: Setting, roles: tuple[str, ...], parent: Connection) -> None:
    trace = Trace()
    app = _app(setting, trace)
    state = inside.setup(app)
    state.backends = replace(
        state.backends, store=cast("Store", TracedStore(state.backends.store, trace))
    )
    await app.start(roles)
    freeze_loaded_objects()  # as `app.run()` does
    parent.send("started")
    loop = asyncio.get_running_loop()
    while (order := await loop.run_in_executor(None, parent.recv)) != "stop":
        if order == "begin":
            trace.instants.clear()
            trace.calls.clear()
            trace.processor = time.process_time()
        else:
            parent.send(replace(trace, processor=time.process_time() - trace.processor))
    await app.stop()


def _app(setting: Setting, trace: Trace) -> Drumbeat:
    app = Drumbeat(setting.store, namespace=setting.namespace, environment={})

    def declare(name: str) -> None:
        @app.scheduled(every(seconds=1), name=name)
        async def tick(ctx: Context) -> None:
            assert ctx.tick_at is not None
            trace.note(ctx.tick_at.timestamp(), "started", time.time())

    for number in range(setting.schedules):
        declare(f"schedule-{number}")
    return app


def shown(found: Sequence[Trace], seconds: float) -> dict[str, object]:
    """Milliseconds of lateness, and after the tick's instant at each stage."""
    merged: Instants = {}
    for trace in found:
        for tick, stages in trace.instants.items():
            for stage, instants in stages.items():
                merged.setdefault(tick, {}).setdefault(stage, []).extend(instants)
    late: dict[str, list[float]] = {stage: [] for stage in STAGES}
    whole = 0
    for tick, stages in merged.items():
        if len(stages.get("started", ())) != SCHEDULES or "commit asked" not in stages:
            continue  # the first or the last of the measurement
        whole += 1
        for stage, instants in stages.items():
            late[stage] += [(instant - tick) * 1000 for instant in instants]
    figures: dict[str, object] = {"ticks": whole * SCHEDULES}
    for stage in STAGES:
        if late[stage]:
            figures[f"{stage}, ms"] = _percentiles(late[stage])
    return figures | cost(found, seconds)


def cost(found: Sequence[Trace], seconds: float) -> dict[str, object]:
    """Processor time and calls of the store in a minute, by process."""
    calls = [
        {name: round(count * 60 / seconds) for name, count in trace.calls.most_common()}
        for trace in found
    ]
    return {
        "processor_ms_per_minute": [round(each.processor * 60_000 / seconds) for each in found],
        "calls_per_minute": calls,
    }


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {
        "min": round(min(values), 1),
        "p10": round(cuts[9], 1),
        "p50": round(cuts[49], 1),
        "p99": round(cuts[98], 1),
    }
