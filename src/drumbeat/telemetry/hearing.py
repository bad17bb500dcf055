"""Hearing: events become figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from drumbeat.model.ending import Raised, Snoozed
from drumbeat.model.events import (
    AttemptCompleted,
    AttemptEnded,
    Event,
    JobExcluded,
    LeadershipGained,
    LeadershipLost,
    SchedulesUnknown,
    TickFired,
    TickPassed,
    TickSkipped,
)
from drumbeat.model.job import Status
from drumbeat.model.plan import Outcome, SkipReason
from drumbeat.telemetry.figures import Figures

E = TypeVar("E", bound=Event)

FIRED = (Outcome.FIRED.value,)
ELSEWHERE = (SkipReason.ELSEWHERE.value,)


class Hears(Protocol):
    """Whoever tells of events."""

    def on(self, kind: type[E], listener: Callable[[E], None]) -> object:
        """Call the listener for each event of the kind."""
        ...


class Hearing:
    """One method per kind of event that is counted."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._runs_of = figures.runs.of

    def attach(self, bus: Hears) -> None:
        """Listen from now on."""
        bus.on(LeadershipGained, self._transition)
        bus.on(LeadershipLost, self._transition)
        bus.on(TickFired, self._fired)
        bus.on(TickSkipped, self._skipped)
        bus.on(TickPassed, self._passed)
        bus.on(SchedulesUnknown, self._unknown)
        bus.on(AttemptCompleted, self._completed)
        bus.on(AttemptEnded, self._ended)
        bus.on(JobExcluded, self._excluded)

    def _transition(self, _: LeadershipGained | LeadershipLost) -> None:
        self._figures.transitions += 1

    def _fired(self, event: TickFired) -> None:
        self._figures.ticks.add(FIRED)
        self._figures.lag.observe(max(0.0, event.lateness.total_seconds()))

    def _skipped(self, event: TickSkipped) -> None:
        self._figures.ticks.add((event.reason.value,), event.count)

    def _passed(self, event: TickPassed) -> None:
        self._figures.ticks.add(ELSEWHERE, event.count)

    def _unknown(self, event: SchedulesUnknown) -> None:
        self._figures.unknown_schedules = event.count

    def _completed(self, event: AttemptCompleted) -> None:
        self._runs_of(event.attempt.spec.task).observe(event.seconds)

    def _ended(self, event: AttemptEnded) -> None:
        # Attempts that were given back or cancelled before they began have ended in no time.
        if event.seconds or isinstance(event.ending, Raised | Snoozed):
            self._runs_of(event.attempt.spec.task).observe(event.seconds)

    def _excluded(self, event: JobExcluded) -> None:
        queue = self._figures.queues.of(event.job.spec.queue)
        self._figures.finished.add((Status.CANCELLED.value, queue))
