"""Electors in your own code: three instances, of which one runs the scheduled task at a time.

Each instance has its own in-memory store; they share only the coordinator. The first leader becomes
unhealthy and resigns, the second meets a critical error and steps down, the third one stops. At the
end every tick is counted: none may have run twice.

    python examples/leader_election.py
    python examples/leader_election.py redis://localhost:6379
    COORDINATOR=etcd://localhost:2379 python examples/leader_election.py
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path

from drumbeat import Context, Drumbeat, LeaderElection, Retry, cron
from drumbeat.electors import (
    LeaderAwareScheduler,
    cached,
    fenced,
    health_gated,
    logged,
    monitored,
    step_down_on,
)

TTL = 3.0
PATIENCE = 60.0


class CriticalError(Exception):
    """An error after which another instance should lead."""


class Gauge:
    """Receives the numbers of `monitored`. A real one passes them to a metrics library."""

    def __init__(self) -> None:
        self.leads = False
        self.transitions = 0
        self.checks = 0
        self.slowest = 0.0

    def leading(self, *, leads: bool) -> None:
        """Record the current status."""
        self.leads = leads

    def transition(self, *, leads: bool) -> None:
        """Count a change of the status."""
        del leads
        self.transitions += 1

    def checked(self, seconds: float, error: BaseException | None) -> None:
        """Count a check, and how long it took."""
        del error
        self.checks += 1
        self.slowest = max(self.slowest, seconds)


class Story:
    """Records which instance ran which tick, and lets callers wait for it."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, datetime]] = []
        self._more = asyncio.Event()

    def note(self, instance: str, tick_at: datetime) -> None:
        """Record that an instance runs a tick."""
        self.runs.append((instance, tick_at))
        self._more.set()

    async def until_someone_ran(self, times: int, besides: frozenset[str] = frozenset()) -> str:
        """Wait until an instance other than these has run that many more ticks; return its name."""
        begin = len(self.runs)
        async with asyncio.timeout(PATIENCE):
            while True:
                counts = Counter(name for name, _ in self.runs[begin:] if name not in besides)
                for name, count in counts.items():
                    if count >= times:
                        return name
                self._more.clear()
                await self._more.wait()


class Instance:
    """One instance of a backend: an app, its elector, and two ways to fail."""

    def __init__(self, name: str, coordinator: str, story: Story) -> None:
        self.name = name
        self.healthy = True
        self.broken = False
        self.gauge = Gauge()
        election = LeaderElection(name, coordinator, ttl=TTL)
        gated = health_gated(election, lambda: self.healthy)
        numbered = fenced(gated, lambda: election.token)
        elector = logged(monitored(cached(numbered, ttl=0.2), self.gauge), name)
        self.app = Drumbeat(
            "memory://", coordinator=coordinator, instance_id=name, environment={}, grace=1
        )
        self.scheduler = LeaderAwareScheduler(elector, self.app)

        @self.app.scheduled(cron("* * * * * *"), name="aggregate", retry=Retry.never())
        @step_down_on(CriticalError, resign=election.step_down)
        async def aggregate(ctx: Context) -> None:
            assert ctx.tick_at is not None
            story.note(name, ctx.tick_at)
            if self.broken:
                self.broken = False
                raise CriticalError("the disk is full")


async def tell(coordinator: str) -> int:
    """Run the example, and check its result."""
    story = Story()
    instances = {
        name: Instance(name, coordinator, story)
        for name in ("instance-1", "instance-2", "instance-3")
    }
    for instance in instances.values():
        await instance.scheduler.start()

    first = await story.until_someone_ran(3)
    print(f"{first} leads, and runs the task", flush=True)

    instances[first].healthy = False
    second = await story.until_someone_ran(3, frozenset({first}))
    print(f"{first} is not healthy and resigned; {second} leads", flush=True)

    instances[first].healthy = True
    instances[second].broken = True
    third = await story.until_someone_ran(3, frozenset({second}))
    print(f"{second} met a critical error and stepped down; {third} leads", flush=True)

    await instances[third].scheduler.stop()
    last = await story.until_someone_ran(3, frozenset({third}))
    print(f"{third} has stopped; {last} leads", flush=True)

    for instance in instances.values():
        await instance.scheduler.stop()
    for name, instance in instances.items():
        print(f"{name}: {instance.gauge.checks} checks, {instance.gauge.transitions} transitions")
    doubled = sum(count > 1 for count in Counter(tick for _, tick in story.runs).values())
    print(f"{len(story.runs)} ticks were run, {doubled} of them twice")
    return 0 if not doubled else 1


def main() -> int:
    """Take the coordinator from the command line or the environment, else use a SQLite file."""
    logging.basicConfig(level=logging.ERROR)
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("COORDINATOR")
    if given:
        return asyncio.run(tell(given))
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(tell(f"sqlite:///{Path(folder) / 'leader.db'}"))


if __name__ == "__main__":
    sys.exit(main())
