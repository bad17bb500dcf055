"""Clock changes: how daylight saving time affects the ticks of a trigger, in words.

The wall times of a trigger are its ticks in UTC, where the clock never changes. Around each clock
change of the zone they are compared with the real ticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TypeAlias

from drumbeat.model.text import counted
from drumbeat.model.time.zones import Spell, Window, whole_seconds, zone
from drumbeat.model.triggers.cron.cron import Cron
from drumbeat.model.triggers.recurring import Recurring
from drumbeat.model.triggers.trigger import Excluding, Trigger

OnWallClock: TypeAlias = Cron | Recurring
"""A trigger that uses a wall clock and so is affected by clock changes."""

NAMED = 3
"""Wall times that are listed one by one; more are only counted."""


@dataclass(frozen=True, slots=True)
class ClockChange:
    """A clock change that affects at least one run."""

    at: datetime
    title: str
    effect: str
    shift: timedelta
    """How far the clock goes forward; negative if it goes back."""


def on_wall_clock(trigger: Trigger) -> OnWallClock | None:
    """The trigger without its calendars, if it uses a wall clock."""
    while isinstance(trigger, Excluding):
        trigger = trigger.trigger
    return trigger if isinstance(trigger, Cron | Recurring) else None


def clock_changes(trigger: OnWallClock, start: datetime, end: datetime) -> list[ClockChange]:
    """The clock changes between two instants that move, drop or double a run."""
    found: list[ClockChange] = []
    place = zone(trigger.tz)
    position = whole_seconds(start)
    while position < whole_seconds(end):
        window = place.window(position)
        for before, after in pairwise(window.spells):
            if whole_seconds(start) < after.start <= whole_seconds(end):
                effect = _effect(trigger, window, before, after)
                if effect:
                    at = datetime.fromtimestamp(after.start, UTC)
                    shift = timedelta(seconds=after.offset - before.offset)
                    found.append(ClockChange(at, _title(before, after), effect, shift))
        position = window.end
    return found


def _title(before: Spell, after: Spell) -> str:
    old, new = _wall(after.start + before.offset), _wall(after.start + after.offset)
    return f"{new:%a %Y-%m-%d} {old:%H:%M} -> {new:%H:%M}"


def _effect(trigger: OnWallClock, window: Window, before: Spell, after: Spell) -> str:
    old, new = after.start + before.offset, after.start + after.offset
    named = _walls(trigger, min(old, new), max(old, new))
    if not named:
        return ""
    ticks = _ticks(trigger, window)
    if new > old:
        usual = _walls(trigger, new, window.end + after.offset)
        extra = ticks - {wall - after.offset for wall in usual}
        return _skipped(named, extra, before, after)
    return _repeated(named, ticks, before, after)


def _skipped(walls: Sequence[int], extra: frozenset[int], before: Spell, after: Spell) -> str:
    listed = _listed(walls, "does not exist", "do not exist")
    if after.start in extra:
        return f"{listed}: runs at {_wall(after.start + after.offset):%H:%M} instead"
    if any(wall - before.offset in extra for wall in walls):
        return f"{listed}: runs later by the length of the gap"
    return f"{listed}: no run of its own"


def _repeated(walls: Sequence[int], ticks: frozenset[int], before: Spell, after: Spell) -> str:
    listed = _listed(walls, "comes twice", "come twice")
    first = sum(wall - before.offset in ticks for wall in walls)
    second = sum(wall - after.offset in ticks for wall in walls)
    if first and second:
        return f"{listed}: runs both times"
    return f"{listed}: runs only the {'first' if first else 'second'} time"


def _listed(walls: Sequence[int], one: str, many: str) -> str:
    if len(walls) > NAMED:
        return f"{counted(len(walls), 'time')} of day {many}"
    times = ", ".join(f"{_wall(wall):%H:%M}" for wall in walls)
    return f"{times} {one if len(walls) == 1 else many}"


def _walls(trigger: OnWallClock, start: int, end: int) -> list[int]:
    """The wall times of the trigger from `start` up to, not including, `end`."""
    unchanged: Trigger = replace(trigger, tz="UTC")
    if isinstance(trigger, Recurring) and trigger.start is not None:
        local = trigger.start.astimezone(zone(trigger.tz).info)  # days are counted from its date
        unchanged = replace(trigger, tz="UTC", start=local.replace(tzinfo=UTC))
    between = unchanged.between(_wall(start - 1), _wall(end - 1))
    return [whole_seconds(tick) for tick in between]


def _ticks(trigger: OnWallClock, window: Window) -> frozenset[int]:
    start, end = _wall(window.start - 1), _wall(window.end)
    return frozenset(whole_seconds(tick) for tick in trigger.between(start, end))


def _wall(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
