"""One node of `bench.deaths`, as a process of its own, with default settings."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from pathlib import Path

from drumbeat import Drumbeat
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.handle import Task
from drumbeat.model.events import LeaderEvicted, NodeVanished
from drumbeat.model.ids import label_of
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.triggers import every

BEAT = "beat"
EVERY = 0.1
"""Seconds between two ticks."""
RETRY = Retry.linear(max_retries=10, delay=0.0)


def make_app(
    store: str, coordinator: str | None, namespace: str, label: str, folder: Path
) -> tuple[Drumbeat, Task[[float], None]]:
    """The app of every process, and its task that keeps a worker busy."""
    settings = {"instance_id": label, "namespace": namespace}
    app = Drumbeat(store, coordinator=coordinator, environment={}, **settings)  # type: ignore[arg-type]  # both are texts

    def record(what: str) -> None:
        with (folder / f"{what}-{os.getpid()}").open("a", encoding="utf-8") as file:
            file.write(f"{time.time()} {label}\n")

    @app.scheduled(every(seconds=EVERY), name=BEAT, misfire="all", overlap="allow", retry=RETRY)
    async def beat(ctx: Context) -> None:
        assert ctx.tick_at is not None
        record(f"tick-{ctx.tick_at.timestamp():.1f}")

    @app.task(retry=RETRY)
    async def busy(seconds: float) -> None:
        record("busy")
        await SystemClock().sleep(seconds)

    @app.on(LeaderEvicted)
    def evicted(event: LeaderEvicted) -> None:
        record(f"evicted-{label_of(event.leader)}")

    @app.on(NodeVanished)
    def vanished(event: NodeVanished) -> None:
        record(f"vanished-{label_of(event.node)}")

    return app, busy


def main() -> None:
    """Run until standard input closes."""

    def end_with_the_benchmark() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os._exit(1)

    threading.Thread(target=end_with_the_benchmark, daemon=True).start()
    logging.getLogger("drumbeat").setLevel(logging.ERROR)
    document, label, *roles = sys.argv[1:]
    store, coordinator, namespace, folder = json.loads(document)
    app, _ = make_app(store, coordinator, namespace, label, Path(folder))
    app.run(roles)


if __name__ == "__main__":
    main()
