"""Services: every loop of the engine has this one shape.

A pass does a bounded piece of work and says how long to pause before the next; a signal ends the
pause early. A pass that fails is told to the listeners and tried again after a growing pause: no
error of one service ever reaches another.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import ClassVar

from drumbeat.engine.bus import Bus
from drumbeat.engine.patience import is_told_to_end
from drumbeat.engine.signal import Signal
from drumbeat.model.events import ServiceFailed, ServiceRecovered
from drumbeat.model.part import Part
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store, Topic

SHORTEST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


class Service(ABC):
    """One loop around one pass."""

    name: ClassVar[str]
    topics: ClassVar[tuple[Topic, ...]] = ()
    """The store's hints that end its pause."""
    backend: ClassVar[Part] = Part.STORE
    """The backend that its passes ask."""

    def __init__(self, runtime: Runtime, bus: Bus) -> None:
        self._runtime = runtime
        self._bus = bus
        self._signal = Signal(runtime.clock)
        self._failures = 0
        """Passes that failed in a row."""

    @abstractmethod
    async def once(self) -> float | None:
        """Do one pass; return the seconds to pause after it (None: until woken)."""

    def wake(self) -> None:
        """End the pause: there may be something to do."""
        self._signal.set()

    async def run(self) -> None:
        """Pass after pass, for ever."""
        try:
            await self._pass_for_ever()
        finally:
            self._succeed()  # what has ended does not fail any more

    async def _pass_for_ever(self) -> None:
        while True:
            try:
                pause = await self.once()
                self._succeed()
            except (Exception, asyncio.CancelledError) as error:
                if is_told_to_end(error):
                    raise
                # Isolation: the next pass starts afresh.
                self._failures += 1
                self._bus.emit(ServiceFailed(self.name, error, self._failures, self.backend))
                pause = self._pause_after(self._failures)
            if pause is None or pause > 0:
                await self._signal.wait(pause)
            else:
                await self._runtime.clock.sleep(0)

    def _succeed(self) -> None:
        """The backend has answered. A pass that goes on for long says so before it ends."""
        failures, self._failures = self._failures, 0
        if failures:
            self._bus.emit(ServiceRecovered(self.name, failures))

    def _pause_after(self, failures: int) -> float:
        longest = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(failures, 10))
        return longest * (0.5 + self._runtime.random.random() / 2)


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
