"""One node of the demo's fleet, as a process of its own: `python -m drumbeat.demo.node`."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from drumbeat.app import Drumbeat
from drumbeat.config import Settings
from drumbeat.demo.record import HandlerRecord
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.handle import Task
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.triggers import every

RETRY = Retry.linear(max_retries=10, delay=0.1)


@dataclass(frozen=True, slots=True)
class DemoSetting:
    """The settings that all processes of one demo share."""

    store: str
    coordinator: str | None
    namespace: str
    """A new one for each demo: a shared server may have seen others."""
    ttl: float
    schedules: int
    folder: Path
    queue: str | None = None


def make_app(setting: DemoSetting, label: str) -> tuple[Drumbeat, Task[[int], None]]:
    """The app that every process of the fleet runs, and its task for the flood of jobs."""
    settings: Settings = {
        "instance_id": label,
        "namespace": setting.namespace,
        "lease_ttl": setting.ttl,
        "retry_interval": setting.ttl / 5,
        "heartbeat_every": setting.ttl / 5,
        "node_lifetime": setting.ttl,
        "grace": 5.0,
    }
    # The variables of a user's own fleet would give all nodes one name, or another store.
    app = Drumbeat(
        setting.store,
        coordinator=setting.coordinator,
        queue=setting.queue,
        environment={},
        **settings,
    )
    record = HandlerRecord(setting.folder)
    for number in range(setting.schedules):
        _declare_beat(app, record, f"beat-{number}")

    @app.task(retry=RETRY)
    async def work(number: int) -> None:
        record.write(f"job-{number}")

    return app, work


def _declare_beat(app: Drumbeat, record: HandlerRecord, name: str) -> None:
    @app.scheduled(every(seconds=1), name=name, misfire="all", overlap="allow", retry=RETRY)
    async def beat(ctx: Context) -> None:
        record.write(name, ctx.tick_at)


def command(setting: DemoSetting, label: str, roles: tuple[str, ...]) -> list[str]:
    document = json.dumps(asdict(setting), default=str)
    return ["-m", __spec__.name, document, label, *roles]


def _end_with_the_demo() -> None:
    """Exit when standard input closes: the demo, which holds the other end, has died."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main() -> None:
    """Run one node until a signal stops it or the demo has died."""
    threading.Thread(target=_end_with_the_demo, daemon=True).start()
    document, label, *roles = sys.argv[1:]
    logging.getLogger("drumbeat").setLevel(logging.ERROR)  # the demo reports what happens
    fields: dict[str, Any] = json.loads(document)
    fields["folder"] = Path(fields["folder"])
    app, _ = make_app(DemoSetting(**fields), label)
    app.run(roles)


if __name__ == "__main__":
    main()
