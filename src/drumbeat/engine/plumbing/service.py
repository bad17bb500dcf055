"""Services: every loop of the engine has this one shape.

A pass does a bounded piece of work and returns how long to pause before the next; a wake-up ends
the pause early. A failed pass is reported as an event and retried after a growing pause: no error
of one service ever reaches another.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.time_outs import is_own_cancellation
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model import events
from drumbeat.model.part import Part
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store, Topic

SHORTEST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What every service of a process uses: its clock, its randomness and its events."""

    runtime: Runtime
    bus: Bus


class Service(ABC):
    """One loop around one pass."""

    name: ClassVar[str]
    topics: ClassVar[tuple[Topic, ...]] = ()
    """The store's hints that end its pause."""
    backend: ClassVar[Part] = Part.STORE
    """The backend that its passes ask."""

    def __init__(self, context: ServiceContext) -> None:
        self._runtime = context.runtime
        self._bus = context.bus
        self._wake_up = WakeUp(context.runtime.clock)
        self._failures = 0
        """Passes that failed in a row."""

    @abstractmethod
    async def once(self) -> float | None:
        """Do one pass; return the seconds to pause after it (None: until woken)."""

    def wake(self) -> None:
        """End the pause: there may be something to do."""
        self._wake_up.set()

    async def run(self) -> None:
        try:
            await self._pass_for_ever()
        finally:
            self._succeed()  # a service that has ended no longer fails

    async def _pass_for_ever(self) -> None:
        while True:
            try:
                pause = await self.once()
                self._succeed()
            except (Exception, asyncio.CancelledError) as error:
                if is_own_cancellation(error):
                    raise
                # Isolation: the next pass starts afresh.
                self._failures += 1
                self._bus.emit(events.ServiceFailed(self.name, error, self._failures, self.backend))
                pause = self._pause_after(self._failures)
            if pause is None or pause > 0:
                await self._pause(pause)
            else:
                await self._runtime.clock.sleep(0)

    async def _pause(self, seconds: float | None) -> None:
        """Wait until woken, at most this long."""
        await self._wake_up.wait(seconds)

    def _succeed(self) -> None:
        """The backend has answered. A long pass calls this before it ends."""
        failures, self._failures = self._failures, 0
        if failures:
            self._bus.emit(events.ServiceRecovered(self.name, failures))

    def _pause_after(self, failures: int) -> float:
        longest = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(failures, 10))
        return longest * (0.5 + self._runtime.random.random() / 2)


class PeriodicCheck(Service):
    """A service that looks at intervals, first after one interval; nothing wakes it."""

    def __init__(self, every: float, context: ServiceContext) -> None:
        super().__init__(context)
        self._every = every
        self._look_at = context.runtime.clock.elapsed() + every

    async def once(self) -> float | None:
        """Look if it is time to."""
        wait = self._look_at - self._runtime.clock.elapsed()
        if wait > 0:
            return wait
        await self._look()
        self._look_at = self._runtime.clock.elapsed() + self._every
        return self._every

    @abstractmethod
    async def _look(self) -> None: ...


@asynccontextmanager
async def serving(services: Sequence[Service], store: Store) -> AsyncGenerator[None]:
    """Run the services, woken by the store's hints, for as long as the body takes."""
    with ExitStack() as subscriptions:
        for service in services:
            for topic in service.topics:
                subscriptions.callback(store.subscribe(topic, service.wake))
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(service.run(), name=f"drumbeat-{service.name}")
                for service in services
            ]
            try:
                yield
            finally:
                for task in running:
                    task.cancel()
