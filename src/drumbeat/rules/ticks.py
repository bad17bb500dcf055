"""Ticks: the instants that a schedule's trigger names within the schedule's life.

The life of a schedule begins at its `start_at` and ends after its `end_at`, or with the last of
its `max_runs`. What its trigger names outside of it is no tick: it neither fires nor is skipped.
A tick that a calendar excludes is one all the same, for its absence has a reason to be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from drumbeat.model.schedule import Schedule, StoredSchedule
from drumbeat.model.steps import Steps
from drumbeat.model.swift import swift

MICROSECOND = timedelta(microseconds=1)
WALK_BEYOND_CAP = 10_000
WALK_STEPS = 200_000
"""Parts of triggers that one plan may look at: a trigger of many parts is walked in more plans."""


@dataclass(frozen=True, slots=True)
class DueTicks:
    """The earliest ticks of a schedule that are due and not accounted for."""

    stored: StoredSchedule
    ticks: Sequence[datetime]
    now: datetime
    cursor: datetime
    """No tick up to here is left out."""
    next_tick: datetime | None
    """The first one after the cursor. If it is due as well, the next plan goes on from there."""

    def more_to_fire(self, at_most: int) -> int:
        """How many due ticks beyond these may fire, counted up to `at_most`.

        `TriggerTooExpensive` if that takes too many steps.
        """
        if self.next_tick is None or self.next_tick > self.now:
            return 0
        later = takewhile(
            lambda tick: tick <= self.now, firing_ticks(self.stored.schedule, self.cursor)
        )
        to_fire = (tick for tick in later if tick not in self.stored.skips)
        return sum(1 for _ in islice(to_fire, at_most))


new_due_ticks = swift(DueTicks)


def due_ticks(stored: StoredSchedule, now: datetime) -> DueTicks:
    """The ticks from the stored next one up to now: all, or as many as one plan may hold."""
    schedule = stored.schedule
    most = max(
        1, min(schedule.policies.cap + WALK_BEYOND_CAP, WALK_STEPS // schedule.trigger.parts)
    )
    ticks: list[datetime] = []
    tick = stored.next_tick
    while tick is not None and tick <= now:
        if len(ticks) == most:
            return new_due_ticks(stored, ticks, now, cursor=ticks[-1], next_tick=tick)
        ticks.append(tick)
        tick = next_tick(schedule, tick)
    return new_due_ticks(stored, ticks, now, cursor=now, next_tick=tick)


def next_tick(schedule: Schedule, after: datetime, runs: int = 0) -> datetime | None:
    """The first tick after an instant, also an excluded one; None if the schedule is over.

    `runs` is how many of its ticks have fired.
    """
    if has_run_out(schedule, runs):
        return None
    tick = schedule.trigger.named_after(_within_life(schedule, after))
    return None if tick is None or has_ended(schedule, tick) else tick


def firing_ticks(
    schedule: Schedule, after: datetime, steps: Steps | None = None
) -> Iterator[datetime]:
    """The ticks after an instant that no calendar excludes, in their order.

    `TriggerTooExpensive` if the next of them is not found within the steps.
    """
    ticks = schedule.trigger.ticks_after(_within_life(schedule, after), steps)
    return takewhile(lambda tick: not has_ended(schedule, tick), ticks)


def names(schedule: Schedule, tick: datetime) -> bool:
    """Whether the instant is one of the schedule's ticks, excluded or not."""
    return next_tick(schedule, tick - MICROSECOND) == tick


def has_started(schedule: Schedule, tick: datetime) -> bool:
    """Whether the schedule's time has begun at that tick."""
    start_at = schedule.policies.start_at
    return start_at is None or tick >= start_at


def has_ended(schedule: Schedule, tick: datetime) -> bool:
    """Whether the schedule's time is over at that tick."""
    end_at = schedule.policies.end_at
    return end_at is not None and tick > end_at


def has_run_out(schedule: Schedule, runs: int) -> bool:
    """Whether the schedule has fired as often as it may."""
    max_runs = schedule.policies.max_runs
    return max_runs is not None and runs >= max_runs


def _within_life(schedule: Schedule, after: datetime) -> datetime:
    start_at = schedule.policies.start_at
    if start_at is None or after >= start_at:
        return after
    return start_at - MICROSECOND  # there may be a tick right at the start
