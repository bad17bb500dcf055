"""One node of a fleet, as a process of its own that is run by its path.

While it takes itself for the leader it says so, every few milliseconds and outside of Drumbeat.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread

from drumbeat import Context, Drumbeat, Retry, Task, every
from drumbeat.config import Settings
from drumbeat.demo.node import Setting
from drumbeat.demo.record import Record
from drumbeat.engine.runtime import SystemClock, SystemRuntime
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store

SAY_EVERY = 0.005
BELIEFS = ".beliefs"
"""How the names of the files end that nodes write their beliefs to."""


@dataclass(frozen=True, slots=True)
class Peculiar:
    """What is special about one node of a fleet."""

    coordinator: str | None = None
    """Its own way to the coordinator; None: as all others."""
    jump: float = 0.0
    """By how many seconds its wall clock jumps when the process is sent SIGUSR1."""


@dataclass(frozen=True, slots=True)
class Place:
    """What an app runs on, where that is not what the setting says."""

    store: str | Store | None = None
    coordinator: str | None = None
    runtime: Runtime | None = None


def make_app(
    setting: Setting, label: str, place: Place | None = None
) -> tuple[Drumbeat, Task[[int], None]]:
    """The app of every node, and its task for jobs."""
    place = place or Place()
    settings: Settings = {
        "instance_id": label,
        "namespace": setting.namespace,
        "lease_ttl": setting.ttl,
        "retry_interval": setting.ttl / 5,
        "heartbeat_every": setting.ttl / 5,
        "node_lifetime": setting.ttl,
        "grace": 5.0,
    }
    app = Drumbeat(
        place.store or setting.store,
        coordinator=place.coordinator or setting.coordinator,
        runtime=place.runtime,
        environment={},
        **settings,
    )
    record = Record(setting.folder)
    for number in range(setting.schedules):
        _declare_beat(app, record, f"beat-{number}")

    @app.task(retry=Retry.linear(max_retries=10, delay=0.1))
    async def work(number: int) -> None:
        record.write(f"job-{number}")

    return app, work


def _declare_beat(app: Drumbeat, record: Record, name: str) -> None:
    retry = Retry.linear(max_retries=10, delay=0.1)

    @app.scheduled(every(seconds=1), name=name, misfire="all", overlap="allow", retry=retry)
    async def beat(ctx: Context) -> None:
        record.write(name, ctx.tick_at)


class JumpingClock(SystemClock):
    """The machine's clock, until it jumps."""

    def __init__(self) -> None:
        self.skew = timedelta()

    def now(self) -> datetime:
        return super().now() + self.skew


class Jumping(SystemRuntime):
    """A machine whose wall clock may jump."""

    def __init__(self) -> None:
        super().__init__()
        self._clock = self.jumping = JumpingClock()


def say_beliefs(app: Drumbeat, path: Path) -> None:
    """Write down every look that finds this node leading: before it, after it, and the epoch.

    A killed process leaves whole lines behind, or none: each is one write.
    """
    clock, never = SystemClock(), Event()
    with path.open("ab", buffering=0) as file:
        while not never.wait(SAY_EVERY):
            before = clock.elapsed()
            epoch = app.leadership.epoch
            if epoch is not None:
                file.write(f"{before:.6f} {clock.elapsed():.6f} {epoch}\n".encode())


def command(setting: Setting, label: str, peculiar: Peculiar) -> list[str]:
    """The command that runs a node with `main`."""
    given = {**asdict(setting), "folder": str(setting.folder)}
    return [sys.executable, __file__, json.dumps([given, label, asdict(peculiar)])]


def main() -> None:
    """Run one node until a signal stops it."""
    given, label, special = json.loads(sys.argv[1])
    folder = Path(given.pop("folder"))
    setting = Setting(**given, folder=folder)
    peculiar = Peculiar(**special)
    logging.getLogger("drumbeat").setLevel(logging.CRITICAL)  # bad days are expected here
    machine = Jumping()
    app, _ = make_app(setting, label, Place(None, peculiar.coordinator, machine))

    def jump(*_: object) -> None:
        machine.jumping.skew += timedelta(seconds=peculiar.jump)

    signal.signal(signal.SIGUSR1, jump)
    path = folder / f"{label}{BELIEFS}"
    Thread(target=say_beliefs, args=(app, path), name="beliefs", daemon=True).start()
    app.run()


if __name__ == "__main__":
    main()
