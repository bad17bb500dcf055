"""Ticks: the instants that a schedule's trigger names within the schedule's life.

The life of a schedule begins at its `start_at` and ends after its `end_at`, or with the last of
its `max_runs`. An instant outside of it is not a tick: it neither fires nor is skipped. An instant
that a calendar excludes is a tick, so that the ledger shows why it did not fire.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile

from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.time.instant import MICROSECOND
from drumbeat.model.triggers.steps import Steps

WALK_BEYOND_CAP = 10_000
WALK_STEPS = 200_000
"""Parts of triggers that one plan may evaluate: a trigger with many parts takes more plans."""


@dataclass(frozen=True, slots=True)
class DueTicks:
    """The earliest ticks of a schedule that are due and not in the ledger yet."""

    stored: StoredSchedule
    ticks: Sequence[datetime]
    now: datetime
    cursor: datetime
    """All ticks up to here are included."""
    next_tick: datetime | None
    """The first tick after the cursor. If it is due too, the next plan continues there."""

    def more_to_fire(self, at_most: int) -> int:
        """How many later due ticks may fire, up to `at_most`; may raise `TriggerTooExpensive`."""
        if self.next_tick is None or self.next_tick > self.now:
            return 0
        later = takewhile(
            lambda tick: tick <= self.now, firing_ticks(self.stored.schedule, self.cursor)
        )
        to_fire = (tick for tick in later if tick not in self.stored.skips)
        return sum(1 for _ in islice(to_fire, at_most))


new_due_ticks = fast_constructor(DueTicks)


def due_ticks(stored: StoredSchedule, now: datetime) -> DueTicks:
    """The ticks from the stored next one up to now, at most as many as one plan may contain."""
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
    """The first tick after an instant, also an excluded one; None if there is none after `runs`."""
    if has_run_out(schedule, runs):
        return None
    tick = schedule.trigger.named_after(_within_life(schedule, after))
    return None if tick is None or has_ended(schedule, tick) else tick


def firing_ticks(
    schedule: Schedule, after: datetime, steps: Steps | None = None
) -> Iterator[datetime]:
    """The ticks after an instant that no calendar excludes; may raise `TriggerTooExpensive`."""
    ticks = schedule.trigger.ticks_after(_within_life(schedule, after), steps)
    return takewhile(lambda tick: not has_ended(schedule, tick), ticks)


def names(schedule: Schedule, tick: datetime) -> bool:
    """Whether the instant is one of the schedule's ticks, excluded or not."""
    return next_tick(schedule, tick - MICROSECOND) == tick


def has_started(schedule: Schedule, tick: datetime) -> bool:
    start_at = schedule.policies.start_at
    return start_at is None or tick >= start_at


def has_ended(schedule: Schedule, tick: datetime) -> bool:
    end_at = schedule.policies.end_at
    return end_at is not None and tick > end_at


def has_run_out(schedule: Schedule, runs: int) -> bool:
    max_runs = schedule.policies.max_runs
    return max_runs is not None and runs >= max_runs


def _within_life(schedule: Schedule, after: datetime) -> datetime:
    start_at = schedule.policies.start_at
    if start_at is None or after >= start_at:
        return after
    return start_at - MICROSECOND  # there may be a tick right at the start
