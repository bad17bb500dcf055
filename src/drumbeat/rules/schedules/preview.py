"""Previews: the next ticks in local time, with notes about clock changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.model.time.zones import zone
from drumbeat.model.triggers.steps import Steps
from drumbeat.model.triggers.trigger import HORIZON, Trigger
from drumbeat.rules.planning.ticks import firing_ticks
from drumbeat.rules.schedules.clock_changes import ClockChange, clock_changes, on_wall_clock

LOOKED_AHEAD = timedelta(days=2 * 366)
"""How far ahead clock changes are searched."""


@dataclass(frozen=True, slots=True)
class ComingTick:
    """A future tick."""

    at: datetime
    local: datetime
    """The same instant in the zone of the trigger."""
    note: str = ""
    """How a clock change affects it, if one does."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Future ticks, and the clock changes that affect them."""

    tz: str
    ticks: tuple[ComingTick, ...]
    changes: tuple[ClockChange, ...]


def zone_of(trigger: Trigger) -> str:
    """The zone of the trigger; UTC if it uses no wall clock."""
    wall = on_wall_clock(trigger)
    return "UTC" if wall is None else wall.tz


def next_ticks(
    trigger: Trigger, start: datetime, count: int, steps: Steps | None = None
) -> list[datetime]:
    """The first `count` ticks after an instant; may raise `TriggerTooExpensive`."""
    ticks = islice(trigger.ticks_after(start, steps), count)
    return list(takewhile(lambda tick: tick <= start + HORIZON, ticks))


def coming_ticks(
    stored: StoredSchedule, now: datetime, count: int, steps: Steps | None = None
) -> list[datetime]:
    """The next ticks of a schedule that will fire; may raise `TriggerTooExpensive`."""
    max_runs = stored.schedule.policies.max_runs
    left = count if max_runs is None else min(count, max(0, max_runs - stored.runs))
    ticks = firing_ticks(stored.schedule, max(stored.cursor, now), steps)
    return list(islice((tick for tick in ticks if tick not in stored.skips), left))


def preview(trigger: Trigger, ticks: Sequence[datetime], now: datetime) -> Preview:
    """The ticks with their local times, with a note on each that a clock change affects."""
    wall, tz = on_wall_clock(trigger), zone_of(trigger)
    changes: list[ClockChange] = []
    if wall is not None and ticks:
        changes = clock_changes(wall, now, min(ticks[-1], now + LOOKED_AHEAD))
    notes: dict[datetime, str] = {}
    for change in changes:
        for tick in _touched(change, ticks):
            notes[tick] = f"{change.title}: {change.effect}"
    place = zone(tz).info
    coming = tuple(ComingTick(tick, tick.astimezone(place), notes.get(tick, "")) for tick in ticks)
    return Preview(tz, coming, tuple(changes))


def _touched(change: ClockChange, ticks: Sequence[datetime]) -> Sequence[datetime]:
    """The ticks in a repeated hour; after a gap the first one, which may replace a lost one."""
    if change.shift > timedelta(0):
        return [tick for tick in ticks if tick >= change.at][:1]
    return [tick for tick in ticks if abs(tick - change.at) <= -change.shift]
