"""CoordinatorHealth: whether the coordinator answers, and if not, since when."""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.model.events import CoordinatorAnswered, CoordinatorFailed, Event
from drumbeat.model.fleet.outage import Outage
from drumbeat.model.part import Asked
from drumbeat.ports.clock import Clock


class CoordinatorHealth:
    """Counts consecutive failures in one thread; any thread may read the outage."""

    def __init__(
        self, election: str, asked: Asked, clock: Clock, emit: Callable[[Event], None]
    ) -> None:
        self._election = election
        self._asked: Asked = asked
        self._clock = clock
        self._emit = emit
        self.outage: Outage | None = None
        """The present outage; None: the last request was answered."""

    def failed(self, error: BaseException) -> None:
        outage = self.outage
        self.outage = outage.then(error) if outage else Outage(error, self._clock.now(), 1)
        since, failures = self.outage.since, self.outage.failures
        self._emit(CoordinatorFailed(self._election, error, since, failures, self._asked))

    def answered(self) -> None:
        outage, self.outage = self.outage, None
        if outage is not None:
            since, failures = outage.since, outage.failures
            self._emit(CoordinatorAnswered(self._election, since, failures, self._asked))
