"""Counts events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from drumbeat.model.events import (
    AttemptCompleted,
    AttemptEnded,
    Event,
    JobExcluded,
    JobExpired,
    JobSkipped,
    LeaderEvicted,
    LeadershipGained,
    LeadershipLost,
    NodeVanished,
    SchedulesUnknown,
    TicketsRepublished,
    TickFired,
    TickPassed,
    TickSkipped,
)
from drumbeat.model.jobs.ending import Raised, Snoozed
from drumbeat.model.jobs.job import Status
from drumbeat.model.schedules.plan import Outcome, SkipReason
from drumbeat.telemetry.instruments import LEADER_DIED, NODE_DIED, Instruments

E = TypeVar("E", bound=Event)

FIRED = (Outcome.FIRED.value,)
EXPIRED = "expired"
SKIPPED = "skipped"
"""Outcomes of their own: in the store the job is cancelled."""
ELSEWHERE = (SkipReason.ELSEWHERE.value,)


class EventSource(Protocol):
    """The part of the event bus that counting needs."""

    def on(self, kind: type[E], listener: Callable[[E], None]) -> object:
        """Call the listener for each event of the kind."""
        ...


def count_events(bus: EventSource, instruments: Instruments) -> None:
    """Count events from now on."""
    ticks, runs_of = instruments.ticks, instruments.runs.of

    def transition(_: LeadershipGained | LeadershipLost) -> None:
        instruments.transitions += 1

    def fired(event: TickFired) -> None:
        ticks.add(FIRED)
        instruments.lag.observe(max(0.0, event.lateness.total_seconds()))

    def unknown(event: SchedulesUnknown) -> None:
        instruments.unknown_schedules = event.count

    def completed(event: AttemptCompleted) -> None:
        runs_of(event.attempt.spec.task).observe(event.seconds)

    def ended(event: AttemptEnded) -> None:
        # Attempts that were given back or cancelled before they started took no time.
        if event.seconds or isinstance(event.ending, Raised | Snoozed):
            runs_of(event.attempt.spec.task).observe(event.seconds)

    def ended_as(outcome: str) -> Callable[[JobExcluded | JobExpired | JobSkipped], None]:
        queues, finished = instruments.queues, instruments.finished
        return lambda event: finished.add((outcome, queues.of(event.job.spec.queue)))

    def republished(event: TicketsRepublished) -> None:
        instruments.republished += event.count

    bus.on(TicketsRepublished, republished)
    bus.on(LeadershipGained, transition)
    bus.on(LeadershipLost, transition)
    bus.on(LeaderEvicted, lambda _: instruments.deaths.add(LEADER_DIED))
    bus.on(NodeVanished, lambda _: instruments.deaths.add(NODE_DIED))
    bus.on(TickFired, fired)
    bus.on(TickSkipped, lambda event: ticks.add((event.reason.value,), event.count))
    bus.on(TickPassed, lambda event: ticks.add(ELSEWHERE, event.count))
    bus.on(SchedulesUnknown, unknown)
    bus.on(AttemptCompleted, completed)
    bus.on(AttemptEnded, ended)
    bus.on(JobExcluded, ended_as(Status.CANCELLED.value))
    bus.on(JobExpired, ended_as(EXPIRED))
    bus.on(JobSkipped, ended_as(SKIPPED))
