"""Monitored electors: leadership as metrics."""

from __future__ import annotations

from typing import Protocol

from drumbeat.electors.wrapped import WrappedElector
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.ports.clock import Clock
from drumbeat.ports.elector import Elector


class ElectorMetrics(Protocol):
    """Receives the metrics. Any metrics library can implement these three methods."""

    def leading(self, *, leads: bool) -> None:
        """A gauge: 1 while this instance leads, 0 while it does not. Called after each answer."""
        ...

    def transition(self, *, leads: bool) -> None:
        """A counter: leadership was gained, or lost."""
        ...

    def checked(self, seconds: float, error: BaseException | None) -> None:
        """A counter and a histogram: a question, how long its answer took, how it failed."""
        ...


def monitored(
    elector: Elector, metrics: ElectorMetrics, *, clock: Clock | None = None
) -> WrappedElector:
    """Report each question with its duration, the present answer, and each change of it."""
    return _Monitored(elector, metrics, clock or SystemClock())


class _Monitored(WrappedElector):
    def __init__(self, elector: Elector, metrics: ElectorMetrics, clock: Clock) -> None:
        super().__init__(elector)
        self._metrics = metrics
        self._clock = clock
        self._led = False

    async def is_leader(self) -> bool:
        """The elector's answer. An error counts as no, for the gauge."""
        asked_at = self._clock.elapsed()
        try:
            leads = await self._elector.is_leader()
        except Exception as error:
            self._metrics.checked(self._clock.elapsed() - asked_at, error)
            self._report(leads=False)
            raise
        self._metrics.checked(self._clock.elapsed() - asked_at, None)
        self._report(leads=leads)
        return leads

    def _report(self, *, leads: bool) -> None:
        self._metrics.leading(leads=leads)
        if leads != self._led:
            self._led = leads
            self._metrics.transition(leads=leads)
