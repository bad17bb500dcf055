"""Finds the ticks of triggers that use times of day in a time zone.

A wall clock combines a rule for days, times of day and a zone, and finds the first tick after an
instant. The result never depends on earlier searches, also inside a gap or a repeat.

Two kinds differ when the clock changes (see `drumbeat.model.time.zones`):

- *fixed times* (`lived=False`) mean one run per wall time, so the policies decide: by default once
  at the first instant after a gap, and once on the first pass of a repeat. Times that fall on one
  instant are one tick.
- *lived* ones (`lived=True`, cron with a wildcard) run whenever the clock shows a match: nothing
  extra in a gap, both passes of a repeat. Policies change nothing for them.

On quiet days, the usual case, a tick is the beginning of a day plus a time of day, and both are
cached. Otherwise the search goes from window to window. Wall clocks that mean the
same are one object, so a million schedules stay small.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from drumbeat.model.errors import NaiveDatetime
from drumbeat.model.time.instant import EPOCH
from drumbeat.model.time.zones import (
    DAY,
    FIRST_INSTANT,
    HORIZON_DAYS,
    LAST_INSTANT,
    OFFSET_CHANGE_LIMIT,
    DstGap,
    DstRepeat,
    Window,
    Zone,
)
from drumbeat.model.triggers.times_of_day import TimesOfDay

FIRST_DAY = FIRST_INSTANT // DAY - 2  # a zone's wall clock may be behind UTC
LAST_DAY = LAST_INSTANT // DAY + 2
NEVER = LAST_DAY * 2


class Days(Protocol):
    """A rule that matches days, numbered from 1970-01-01; hashable and comparable."""

    def next_day(self, day: int) -> int | None:
        """The first matching day at or after `day`; None if there is none within the horizon."""
        ...


class WallRule(NamedTuple):
    """The days, times, zone and policies of a wall clock."""

    days: Days
    times: TimesOfDay
    zone: Zone
    lived: bool = False
    gap: DstGap = DstGap.RUN_AFTER
    repeat: DstRepeat = DstRepeat.FIRST


class WallClock:
    """Finds the ticks of one rule. Its caches never change its results."""

    __slots__ = (
        "__weakref__",
        "_ahead",
        "_days",
        "_disturbance",
        "_first",
        "_offset",
        "_times",
        "_zone",
        "rule",
    )

    def __init__(self, rule: WallRule) -> None:
        self.rule = rule
        self._days = rule.days
        self._times = rule.times
        self._first = rule.times.first
        self._zone = rule.zone
        # Caches, each replaced by one assignment of an immutable value: safe between threads.
        self._offset = 0
        self._ahead = (0, -1)  # (a day, the first matching day from it on)
        self._disturbance: tuple[Window | None, tuple[int, ...]] = (None, ())

    def __reduce__(self) -> tuple[object, ...]:
        return wall_clock, (self.rule,)

    def next_after(self, instant: datetime) -> datetime | None:
        """The first tick strictly later than the instant, in UTC; None beyond `HORIZON_YEARS`."""
        try:
            since = instant - EPOCH
        except TypeError:
            raise NaiveDatetime("instant", instant) from None
        offset = self._offset
        day, second = since.days, since.seconds + offset
        if second >= DAY:
            day, second = day + 1, second - DAY
        elif second < 0:
            day, second = day - 1, second + DAY
        quiet_days = self._zone.quiet_days
        today = quiet_days.get(day)
        if today is None:
            return self._exactly(since)
        if today[0] != offset:
            self._offset = today[0]  # neighbouring quiet days have the same offset
            return self.next_after(instant)
        low, matching = self._ahead
        if not low <= day <= matching:
            matching = self._look_ahead(day)
        if matching == day:
            time = self._times.after(second)
            if time is not None:
                return today[1] + time
            matching = self._look_ahead(day + 1)
        then = quiet_days.get(matching)
        if then is None:
            return self._exactly(since)
        # Days between the two may be disturbed, but none of them matches.
        return then[1] + self._first

    def _look_ahead(self, day: int) -> int:
        """The first matching day at or after `day`, which is then cached."""
        matching = self._days.next_day(day)
        if matching is None:
            return NEVER
        self._ahead = (day, matching)
        return matching

    def _exactly(self, since: timedelta) -> datetime | None:
        """The slow search; it fills the caches for the fast one."""
        instant = since.days * DAY + since.seconds
        tick = self._search(instant)
        if tick is None:
            return None
        self._offset = self._zone.learn(max(instant, FIRST_INSTANT))
        self._zone.learn(tick)
        return datetime.fromtimestamp(tick, UTC)

    def _search(self, instant: int) -> int | None:
        """Search window by window, skipping those that can contain no tick."""
        position = max(instant, FIRST_INSTANT)
        limit = min(position + HORIZON_DAYS * DAY, LAST_INSTANT)
        while position < limit:
            window = self.rule.zone.window(position + 1)
            if window.spells:
                tick = self._within(window, position)
                position = window.end - 1
            else:
                wall = self._next_wall(position + window.offset)
                if wall is None:
                    return None
                tick = wall - window.offset
                # Every later tick has this wall time or a later one, at some offset of the zone.
                position = max(window.end - 1, tick - OFFSET_CHANGE_LIMIT)
                if tick >= window.end:
                    tick = None
            if tick is not None:
                return tick
        return None

    def _next_wall(self, wall: int) -> int | None:
        """The first matching wall time later than `wall`."""
        day, second = divmod(wall, DAY)
        matching = self._days.next_day(day)
        if matching == day:
            time = self._times.after(second)
            if time is not None:
                return day * DAY + time.seconds
            matching = self._days.next_day(day + 1)
        return None if matching is None else matching * DAY + self._first.seconds

    def _walls(self, start: int, end: int) -> Iterator[int]:
        """All matching wall times from `start` up to, not including, `end`."""
        wall = self._next_wall(start - 1)
        while wall is not None and wall < end:
            yield wall
            wall = self._next_wall(wall)

    def _within(self, window: Window, instant: int) -> int | None:
        """The first tick of a disturbed window that is later than the instant."""
        if self.rule.lived:
            return self._lived(window, instant)
        ticks = self._planned(window)
        index = bisect_right(ticks, instant)
        return ticks[index] if index < len(ticks) else None

    def _lived(self, window: Window, instant: int) -> int | None:
        for start, end, offset in window.spells:
            begin, finish = max(start, window.start, instant + 1), min(end, window.end)
            wall = self._next_wall(begin + offset - 1) if begin < finish else None
            if wall is not None and wall - offset < finish:
                return wall - offset
        return None

    def _planned(self, window: Window) -> tuple[int, ...]:
        """All ticks of a fixed-time rule in a disturbed window."""
        known, ticks = self._disturbance
        if known is not window:
            gap, repeat = self.rule.gap, self.rule.repeat
            planned = {
                instant
                for wall in self._walls(*window.walls)
                for instant in window.instants(wall, gap, repeat)
            }
            ticks = tuple(sorted(planned))
            self._disturbance = (window, ticks)
        return ticks


_CLOCKS: WeakValueDictionary[WallRule, WallClock] = WeakValueDictionary()


def wall_clock(rule: WallRule) -> WallClock:
    """The wall clock of a rule; equal rules share one."""
    known = _CLOCKS.get(rule)
    return known if known is not None else _CLOCKS.setdefault(rule, WallClock(rule))
