"""One node of a fleet, as a process of its own: `python -m chaos.node`.

Whatever happens to it goes into its journal. While it takes itself for the leader it says so,
every few milliseconds.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread

from chaos.journal import Journal
from drumbeat import Context, Drumbeat, Retry, Task, every
from drumbeat.config import Settings
from drumbeat.demo.node import DemoSetting
from drumbeat.engine.plumbing.runtime import SystemClock, SystemRuntime
from drumbeat.model.events import (
    AttemptSuperseded,
    JobSettled,
    LeadershipGained,
    LeadershipLost,
    NodeStarted,
    NodeStopped,
)
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store

ROOT = Path(__file__).parents[1]
SAY_EVERY = 0.005
BELIEFS = ".beliefs"
"""How the names of the files end that nodes write their beliefs to."""
BLOCK = "block"
"""The task that holds an event loop up."""
LONG_EVERY = 5
LONG = 0.5
"""Seconds that every so many jobs take: a node that is harmed should have some at hand."""

clock = SystemClock()


@dataclass(frozen=True, slots=True)
class Peculiar:
    """What is special about one node of a fleet."""

    store: str | None = None
    """Its own way to the store; None: as all others."""
    coordinator: str | None = None
    """Its own way to the coordinator; None: as all others."""
    jump: float = 0.0
    """By how many seconds its wall clock jumps when the process is sent SIGUSR1."""
    lifetime: float | None = None
    """Seconds of silence after which it is taken for dead; None: as long as a term."""


@dataclass(frozen=True, slots=True)
class Place:
    """What an app runs on, where that is not what the setting says."""

    store: str | Store | None = None
    coordinator: str | None = None
    runtime: Runtime | None = None
    lifetime: float | None = None


def make_app(
    setting: DemoSetting, label: str, place: Place | None = None
) -> tuple[Drumbeat, Task[[int], None]]:
    """The app of every node, and its task for jobs."""
    place = place or Place()
    settings: Settings = {
        "instance_id": label,
        "namespace": setting.namespace,
        "lease_ttl": setting.ttl,
        "retry_interval": setting.ttl / 5,
        "heartbeat_every": setting.ttl / 5,
        "node_lifetime": place.lifetime or setting.ttl,
        "queues": ("default", label),
        "grace": 5.0,
    }
    app = Drumbeat(
        place.store or setting.store,
        coordinator=place.coordinator or setting.coordinator,
        runtime=place.runtime,
        environment={},
        **settings,
    )
    journal = Journal(setting.folder, label)
    _note_events(app, journal)
    for number in range(setting.schedules):
        _declare_beat(app, journal, f"beat-{number}")

    @app.task(retry=Retry.linear(max_retries=50, delay=0.1))
    async def work(ctx: Context, number: int) -> None:
        _note_run(journal, ctx, f"job-{number}")
        if number % LONG_EVERY == 0:
            await clock.sleep(LONG)

    @app.task(name=BLOCK, retry=Retry.never())
    async def block(ctx: Context, seconds: float) -> None:
        _note_run(journal, ctx, BLOCK)
        Event().wait(seconds)  # what a handler must not do

    return app, work


def _declare_beat(app: Drumbeat, journal: Journal, name: str) -> None:
    retry = Retry.linear(max_retries=50, delay=0.1)

    @app.scheduled(every(seconds=1), name=name, misfire="all", overlap="allow", retry=retry)
    async def beat(ctx: Context) -> None:
        _note_run(journal, ctx, name)


def _note_run(journal: Journal, ctx: Context, what: str) -> None:
    tick = None if ctx.tick_at is None else ctx.tick_at.isoformat()
    hold = ctx.attempt.hold
    journal.write("ran", what=what, tick_at=tick, job=hold.job_id, fence=hold.fence)


def _note_events(app: Drumbeat, journal: Journal) -> None:
    @app.on(NodeStarted)
    def started(_: NodeStarted) -> None:
        journal.write("started")

    @app.on(NodeStopped)
    def stopped(_: NodeStopped) -> None:
        journal.write("stopped")

    @app.on(LeadershipGained)
    def gained(event: LeadershipGained) -> None:
        journal.write("gained", epoch=event.epoch, identity=event.node)

    @app.on(LeadershipLost)
    def lost(event: LeadershipLost) -> None:
        journal.write("lost", epoch=event.epoch, reason=event.reason, graceful=event.graceful)

    @app.on(JobSettled)
    def settled(event: JobSettled) -> None:
        hold = event.settlement.hold
        journal.write("accepted", job=hold.job_id, fence=hold.fence, status=event.status)

    @app.on(AttemptSuperseded)
    def superseded(event: AttemptSuperseded) -> None:
        journal.write("refused", job=event.hold.job_id, fence=event.hold.fence)


class JumpingClock(SystemClock):
    """The machine's clock, until it jumps."""

    def __init__(self) -> None:
        self.skew = timedelta()

    def now(self) -> datetime:
        """The wall clock, off by as much as it has jumped."""
        return super().now() + self.skew


class Jumping(SystemRuntime):
    """A machine whose wall clock may jump."""

    def __init__(self) -> None:
        super().__init__()
        self._clock = self.jumping = JumpingClock()


def say_beliefs(app: Drumbeat, path: Path) -> None:
    """Write down every look that finds this node leading: before it, after it, and the epoch."""
    never = Event()
    with path.open("ab", buffering=0) as file:
        while not never.wait(SAY_EVERY):
            before = clock.elapsed()
            epoch = app.leadership.epoch
            if epoch is not None:
                file.write(f"{before:.6f} {clock.elapsed():.6f} {epoch}\n".encode())


def command(setting: DemoSetting, label: str, peculiar: Peculiar) -> list[str]:
    """The command that runs a node with `main`, from the root of the repository."""
    given = {**asdict(setting), "folder": str(setting.folder)}
    words = json.dumps([given, label, asdict(peculiar)])
    return [sys.executable, "-m", "chaos.node", words]


def main() -> None:
    """Run one node until a signal stops it."""
    given, label, special = json.loads(sys.argv[1])
    folder = Path(given.pop("folder"))
    setting = DemoSetting(**given, folder=folder)
    peculiar = Peculiar(**special)
    logging.getLogger("drumbeat").setLevel(logging.CRITICAL)  # bad days are expected here
    machine = Jumping()
    place = Place(peculiar.store, peculiar.coordinator, machine, peculiar.lifetime)
    app, _ = make_app(setting, label, place)

    def jump(*_: object) -> None:
        machine.jumping.skew += timedelta(seconds=peculiar.jump)

    signal.signal(signal.SIGUSR1, jump)
    path = folder / f"{label}.{os.getpid()}{BELIEFS}"
    Thread(target=say_beliefs, args=(app, path), name="beliefs", daemon=True).start()
    app.run()


if __name__ == "__main__":
    main()
