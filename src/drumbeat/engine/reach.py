"""Reach: whether the coordinator answers, and if not, since when."""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.model.events import CoordinatorAnswered, CoordinatorFailed, Event
from drumbeat.model.outage import Outage
from drumbeat.model.part import Asked
from drumbeat.ports.clock import Clock


class Reach:
    """Counts failures in a row, from one thread; any other may look at the outage."""

    def __init__(self, election: str, clock: Clock, asked: Asked) -> None:
        self._election = election
        self._clock = clock
        self._asked: Asked = asked
        self.outage: Outage | None = None
        """What fails now; None: the last question was answered."""
        self.tell: Callable[[Event], None] = lambda _: None

    def failed(self, error: BaseException) -> None:
        """A question was not answered."""
        outage = self.outage
        self.outage = outage.then(error) if outage else Outage(error, self._clock.now(), 1)
        since, failures = self.outage.since, self.outage.failures
        self.tell(CoordinatorFailed(self._election, error, since, failures, self._asked))

    def answered(self) -> None:
        """A question was answered."""
        outage, self.outage = self.outage, None
        if outage is not None:
            since, failures = outage.since, outage.failures
            self.tell(CoordinatorAnswered(self._election, since, failures, self._asked))
