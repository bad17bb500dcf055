"""Instances of one web app, each with a memory store of its own."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from drumbeat import Context, Drumbeat, Trigger, cron
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.ports.clock import Clock
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime

TTL = 10.0
MINUTES = cron("* * * * *")


@dataclass
class Instances:
    """Instances with a memory of their own, and one coordinator."""

    clock: FakeClock = field(default_factory=FakeClock)
    coordinator: MemoryCoordinator = field(init=False)
    apps: list[Drumbeat] = field(default_factory=list[Drumbeat])
    ran: list[tuple[str, datetime]] = field(default_factory=list[tuple[str, datetime]])
    """Which instance ran which tick."""
    count: int = 0

    def __post_init__(self) -> None:
        self.coordinator = MemoryCoordinator(self.clock, "test")

    def app(self, when: Trigger = MINUTES, clock: Clock | None = None, **settings: Any) -> Drumbeat:
        self.count += 1
        label = settings.pop("instance_id", f"instance-{self.count}")
        app = Drumbeat(
            "memory://",
            coordinator=self.coordinator,
            runtime=FakeRuntime(clock or self.clock, seed=self.count),
            environment={},
            instance_id=label,
            lease_ttl=TTL,
            **settings,
        )

        @app.scheduled(when, misfire="all", overlap="allow")
        async def work(ctx: Context) -> None:
            assert ctx.tick_at is not None
            self.ran.append((label, ctx.tick_at))

        self.apps.append(app)
        return app

    async def start(self, *apps: Drumbeat) -> None:
        for app in apps or self.apps:
            await app.start()
            await self.clock.settle()

    async def stop(self) -> None:
        for app in self.apps:
            if inside.node(app) is not None:
                await self.clock.until(app.stop(0))

    async def kill(self, app: Drumbeat) -> None:
        """End an instance as a killed process ends: nothing is released or told."""
        node = inside.node(app)
        assert node is not None
        await node.crash()
        runtime = app._state.runtime
        assert isinstance(runtime, FakeRuntime)
        await runtime.kill()
        app._state.node = None

    @property
    def leader(self) -> Drumbeat | None:
        return next((app for app in self.apps if app.leadership.is_leader), None)

    @property
    def ticks(self) -> list[datetime]:
        return [tick for _, tick in self.ran]
