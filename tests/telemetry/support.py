"""What the tests of metrics share: an app that is watched, and what a scrape of it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from drumbeat import Drumbeat
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.errors import Unavailable
from drumbeat.telemetry.metrics import Metrics
from drumbeat.telemetry.samples import NodeStatus
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.gate import Gate, NodeClock
from drumbeat.testing.runtime import FakeRuntime


@dataclass(frozen=True)
class Scrape:
    """Every sample by its name and labels."""

    text: str
    families: dict[str, Metric]

    def samples(self) -> Iterator[tuple[str, dict[str, str], float]]:
        for family in self.families.values():
            for sample in family.samples:
                yield sample.name, sample.labels, sample.value

    def get(self, name: str, **labels: str) -> float | None:
        """One sample; None: it is not there."""
        for found, its, value in self.samples():
            if found == name and its == labels:
                return value
        return None

    def sum(self, name: str, **labels: str) -> float:
        """All samples of a name that have these labels."""
        return sum(
            value
            for found, its, value in self.samples()
            if found == name and labels.items() <= its.items()
        )


class Fault:
    """Stands before one method of a store, and lets its calls fail or hang as a test says."""

    def __init__(self, part: object, method: str) -> None:
        self._original: Callable[..., Awaitable[Any]] = getattr(part, method)
        self._released = asyncio.Event()
        self.mode = ""
        """What happens to calls: "fail", "hang" until it is healed, or nothing."""
        self.error: Exception = Unavailable("injected")
        self.calls = 0
        self.hanging = asyncio.Event()
        setattr(part, method, self._call)

    def heal(self) -> None:
        self.mode = ""
        self._released.set()

    async def _call(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.mode == "fail":
            raise self.error
        if self.mode == "hang":
            self.hanging.set()
            await self._released.wait()
        return await self._original(*args, **kwargs)


def read(text: str) -> Scrape:
    return Scrape(text, {family.name: family for family in text_string_to_metric_families(text)})


@dataclass
class Watched:
    """An app on fake time, with metrics."""

    clock: FakeClock = field(default_factory=FakeClock)
    skew: timedelta = timedelta(0)
    kept: MemoryStore = field(init=False)
    metrics: Metrics = field(init=False)
    app: Drumbeat = field(init=False)

    def __post_init__(self) -> None:
        self.kept = MemoryStore(self.clock)
        own = NodeClock(self.clock, Gate())
        own.skew = self.skew
        self.metrics = Metrics(own)
        store = self.metrics.timed_store(self.kept)
        self.app = Drumbeat(
            store,
            coordinator=MemoryCoordinator(self.clock, "test"),
            runtime=FakeRuntime(own),
            environment={},
            concurrency=10,
        )
        self.metrics.attach(inside.setup(self.app).bus, store, self.node_status)

    def node_status(self) -> NodeStatus:
        node = inside.node(self.app)
        leadership = self.app.leadership
        slots, busy = node.load if node is not None else (0, 0)
        return NodeStatus(leadership.epoch, leadership.lease_remaining, slots, busy)

    async def scrape(self) -> Scrape:
        await self.metrics.refresh()
        return read(self.metrics.text()[0].decode())

    async def later(self, seconds: float = 6.0) -> Scrape:
        """A scrape after so much time, so that nothing comes from the cache."""
        await self.clock.advance(seconds)
        return await self.scrape()

    async def stop(self) -> None:
        await self.clock.until(self.app.stop(0.0))
