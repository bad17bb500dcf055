"""Store outages as one node sees them: one count and one beginning for all its services.

Each service reports its own failures and recoveries as events. This listener turns them into a
single outage: it begins with the first service that gets no answer, and is over when no service
fails any more. If the store is the coordinator too, the elector counts as one more service.
"""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import (
    CoordinatorAnswered,
    CoordinatorFailed,
    ServiceFailed,
    ServiceRecovered,
    StoreAnswered,
    StoreFailed,
)
from drumbeat.model.fleet.outage import Outage
from drumbeat.model.part import Part
from drumbeat.ports.clock import Clock

NO_ANSWER = (Unavailable, TimeoutError)
"""Errors that mean that a backend did not answer."""


class StoreOutage:
    """Listens to the events of a node and emits `StoreFailed` and `StoreAnswered`."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._failing: set[str] = set()
        self._outage: Outage | None = None

    def attach(self) -> list[Callable[[], None]]:
        """Subscribe to the events; return the functions that unsubscribe."""
        return [
            self._bus.on(ServiceFailed, self._service_failed),
            self._bus.on(ServiceRecovered, lambda event: self._answered(event.service)),
            self._bus.on(CoordinatorFailed, self._coordinator_failed),
            self._bus.on(CoordinatorAnswered, lambda event: self._answered(event.election)),
        ]

    def _service_failed(self, event: ServiceFailed) -> None:
        if event.backend is Part.STORE and isinstance(event.error, NO_ANSWER):
            self._failed(event.service, event.error)

    def _coordinator_failed(self, event: CoordinatorFailed) -> None:
        if event.asked == "store" and event.since is not None:
            self._failed(event.election, event.error)

    def _failed(self, part: str, error: BaseException) -> None:
        self._failing.add(part)
        before = self._outage
        outage = self._outage = (
            before.then(error) if before else Outage(error, self._clock.now(), 1)
        )
        self._bus.emit(StoreFailed(error, outage.since, outage.failures))

    def _answered(self, part: str) -> None:
        self._failing.discard(part)
        if self._outage is not None and not self._failing:
            outage, self._outage = self._outage, None
            self._bus.emit(StoreAnswered(outage.since, outage.failures))
