"""What the tests of the engine share: apps on fake time, ears, and faults to inject."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from drumbeat import Drumbeat, PageRequest
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import Event
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Job
from drumbeat.model.schedules.plan import Outcome, SkipReason, TickRecord
from drumbeat.ports.clock import Alarm, Clock
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.runtime import FakeRuntime

E = TypeVar("E", bound=Event)

BOTH = (Role.SCHEDULER, Role.WORKER)
PATIENCE = 40.0
"""Real seconds after which a test that waits for something real has failed."""


class Heard:
    """All events of an app, in order."""

    def __init__(self, app: Drumbeat) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Event()
        app.on(Event)(self._hear)

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def next(self, kind: type[E], count: int = 1) -> E:
        """The event of the kind that comes as number `count`; for tests in real time."""
        async with asyncio.timeout(PATIENCE):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.of(kind)[count - 1]


class Fault:
    """Stands before one method of a backend and lets calls fail, or hang, as a test says.

    `before` fails without doing anything, `after` does it and fails all the same, which is what a
    lost answer looks like, `hang` waits until it is released, and then does it; `refuse` answers
    None at once.
    """

    def __init__(self, part: object, method: str) -> None:
        self._original: Callable[..., Awaitable[Any]] = getattr(part, method)
        self.modes: list[str] = []
        """What happens to the next calls, one by one; an empty one is let through."""
        self._always: str | None = None
        self._released = asyncio.Event()
        self.calls: list[tuple[Any, ...]] = []
        self.hanging = asyncio.Event()
        """Set as soon as a call hangs."""
        self.error: BaseException = Unavailable("injected")
        setattr(part, method, self._call)

    def before(self, times: int = 1) -> Fault:
        self.modes += ["before"] * times
        return self

    def after(self, times: int = 1) -> Fault:
        self.modes += ["after"] * times
        return self

    def hang(self, times: int = 1) -> Fault:
        self.modes += ["hang"] * times
        return self

    def always(self, mode: str) -> Fault:
        self._always = mode
        return self

    def heal(self) -> None:
        self.modes.clear()
        self._always = None
        self._released.set()

    async def _call(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append(args)
        mode = self.modes.pop(0) if self.modes else self._always
        if mode == "before":
            raise self.error
        if mode == "refuse":
            return None
        if mode == "hang":
            self.hanging.set()
            await self._released.wait()
        result = await self._original(*args, **kwargs)
        if mode == "after":
            raise self.error
        return result


class SkewedClock:
    """The fleet's clock, with a wall clock that is off."""

    def __init__(self, clock: Clock, skew: timedelta) -> None:
        self._clock = clock
        self.skew = skew

    def now(self) -> datetime:
        return self._clock.now() + self.skew

    def elapsed(self) -> float:
        return self._clock.elapsed()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        return self._clock.call_later(seconds, callback)

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        return self._clock.call_punctually(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


@dataclass
class Fleet:
    """Apps that share one store, one coordinator and one fake clock."""

    clock: FakeClock = field(default_factory=lambda: FakeClock(patience=PATIENCE))
    """One that gives no handler in a thread up, unless a test wants just that."""
    store: MemoryStore = field(init=False)
    coordinator: MemoryCoordinator = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.clock)
        self.coordinator = MemoryCoordinator(self.clock, "test")

    def app(self, clock: Clock | None = None, **settings: Any) -> Drumbeat:
        """Another app of the fleet; a clock of its own if one is given."""
        self.count += 1
        settings.setdefault("instance_id", f"node-{self.count}")
        settings.setdefault("concurrency", 10)
        return Drumbeat(
            self.store,
            coordinator=self.coordinator,
            runtime=FakeRuntime(clock or self.clock, seed=self.count),
            **settings,
        )

    @asynccontextmanager
    async def running(
        self, *apps: Drumbeat, roles: Iterable[Role] = BOTH
    ) -> AsyncGenerator[Drumbeat]:
        """Run the apps for as long as the body takes, then stop them without grace."""
        roles = tuple(roles)
        try:
            for app in apps:
                await app.start(roles)
                await self.clock.settle()
            yield apps[0]
        finally:
            for app in apps:
                await self.clock.until(app.stop(0.0))

    async def done(self, app: Drumbeat, job: Job, within: str = "1d") -> Job:
        """The job once it is finished, with time moved on until it is."""
        return await self.clock.until(app.jobs.wait(job.id), within)


async def ledger(app: Drumbeat, name: str) -> Sequence[TickRecord]:
    """The ticks of a schedule, oldest first."""
    page = await app.schedules.ticks(name, PageRequest(1000))
    return page.items[::-1]


def fired(ticks: Sequence[TickRecord]) -> list[datetime]:
    return [tick.tick_at for tick in ticks if tick.outcome is Outcome.FIRED]


def skipped(ticks: Sequence[TickRecord]) -> list[tuple[SkipReason | None, int]]:
    return [(tick.reason, tick.count) for tick in ticks if tick.outcome is Outcome.SKIPPED]
