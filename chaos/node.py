"""One node of a fleet, in a separate process: `python -m chaos.node`.

It records its events in its journal. While it considers itself the leader, it records so every few
milliseconds.
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
RECORD_EVERY = 0.005
BELIEFS = ".beliefs"
"""The suffix of the files to which nodes write their beliefs."""
BLOCK = "block"
"""The task that blocks an event loop."""
LONG_EVERY = 5
LONG = 0.5
"""Every fifth job takes this many seconds, so that nodes hit by a fault have work in progress."""

clock = SystemClock()


@dataclass(frozen=True, slots=True)
class NodeOverrides:
    """The settings in which one node differs from the others of its fleet."""

    store: str | None = None
    """Its own address of the store, if it differs."""
    coordinator: str | None = None
    """Its own address of the coordinator, if it differs."""
    jump: float = 0.0
    """Seconds by which its wall clock jumps on SIGUSR1."""
    lifetime: float | None = None
    """Seconds without a heartbeat after which it counts as dead; by default the TTL."""
    queue: str | None = None
    """Its own address of the queue, if it differs."""
    roles: tuple[str, ...] = ("scheduler", "worker")
    http_addr: str = "127.0.0.1:0"
    """Where it serves HTTP, if it has that role."""


@dataclass(frozen=True, slots=True)
class AppOverrides:
    """What replaces the setting's values for one app."""

    store: str | Store | None = None
    coordinator: str | None = None
    runtime: Runtime | None = None
    lifetime: float | None = None
    queue: str | None = None
    http_addr: str = "127.0.0.1:0"


def make_app(
    setting: DemoSetting, label: str, place: AppOverrides | None = None
) -> tuple[Drumbeat, Task[[int], None]]:
    """The app of a node, and its task for numbered jobs."""
    place = place or AppOverrides()
    settings: Settings = {
        "instance_id": label,
        "namespace": setting.namespace,
        "lease_ttl": setting.ttl,
        "retry_interval": setting.ttl / 5,
        "heartbeat_every": setting.ttl / 5,
        "node_lifetime": place.lifetime or setting.ttl,
        "queues": ("default", label),
        "http_addr": place.http_addr,
        "grace": 5.0,
    }
    app = Drumbeat(
        place.store or setting.store,
        coordinator=place.coordinator or setting.coordinator,
        queue=place.queue or setting.queue,
        runtime=place.runtime,
        environment={},
        **settings,
    )
    journal = Journal(setting.folder, label)
    _record_events(app, journal)
    for number in range(setting.schedules):
        _declare_beat(app, journal, f"beat-{number}")

    @app.task(retry=Retry.linear(max_retries=50, delay=0.1))
    async def work(ctx: Context, number: int) -> None:
        _record_run(journal, ctx, f"job-{number}")
        if number % LONG_EVERY == 0:
            await clock.sleep(LONG)

    @app.task(name=BLOCK, retry=Retry.never())
    async def block(ctx: Context, seconds: float) -> None:
        _record_run(journal, ctx, BLOCK)
        Event().wait(seconds)  # blocks the event loop, as no handler should

    return app, work


def _declare_beat(app: Drumbeat, journal: Journal, name: str) -> None:
    retry = Retry.linear(max_retries=50, delay=0.1)

    @app.scheduled(every(seconds=1), name=name, misfire="all", overlap="allow", retry=retry)
    async def beat(ctx: Context) -> None:
        _record_run(journal, ctx, name)


def _record_run(journal: Journal, ctx: Context, what: str) -> None:
    tick = None if ctx.tick_at is None else ctx.tick_at.isoformat()
    hold = ctx.attempt.hold
    journal.write("ran", what=what, tick_at=tick, job=hold.job_id, fence=hold.fence)


def _record_events(app: Drumbeat, journal: Journal) -> None:
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
    """The machine's clock, whose wall clock can jump."""

    def __init__(self) -> None:
        self.skew = timedelta()

    def now(self) -> datetime:
        return super().now() + self.skew


class JumpingRuntime(SystemRuntime):
    """The machine's runtime, with a clock that can jump."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = self.jumping = JumpingClock()


def record_beliefs(app: Drumbeat, path: Path) -> None:
    """Record every check that finds this node leading: the times around it, and the epoch."""
    never = Event()
    with path.open("ab", buffering=0) as file:
        while not never.wait(RECORD_EVERY):
            before = clock.elapsed()
            epoch = app.leadership.epoch
            if epoch is not None:
                file.write(f"{before:.6f} {clock.elapsed():.6f} {epoch}\n".encode())


def command(setting: DemoSetting, label: str, overrides: NodeOverrides) -> list[str]:
    """The command that runs a node with `main`, from the root of the repository."""
    given = {**asdict(setting), "folder": str(setting.folder)}
    words = json.dumps([given, label, asdict(overrides)])
    return [sys.executable, "-m", "chaos.node", words]


def main() -> None:
    """Run one node until a signal stops it."""
    given, label, special = json.loads(sys.argv[1])
    folder = Path(given.pop("folder"))
    setting = DemoSetting(**given, folder=folder)
    overrides = NodeOverrides(**special)
    logging.getLogger("drumbeat").setLevel(logging.CRITICAL)  # errors are expected here
    machine = JumpingRuntime()
    place = AppOverrides(
        overrides.store,
        overrides.coordinator,
        machine,
        overrides.lifetime,
        overrides.queue,
        overrides.http_addr,
    )
    app, _ = make_app(setting, label, place)

    def jump(*_: object) -> None:
        machine.jumping.skew += timedelta(seconds=overrides.jump)

    signal.signal(signal.SIGUSR1, jump)
    path = folder / f"{label}.{os.getpid()}{BELIEFS}"
    Thread(target=record_beliefs, args=(app, path), name="beliefs", daemon=True).start()
    app.run(overrides.roles)


if __name__ == "__main__":
    main()
