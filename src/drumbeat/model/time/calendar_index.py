"""An index of a calendar that finds the end of excluded time without scanning its lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from drumbeat.model.time.calendar import Calendar

NEVER = datetime.combine(date.max, time.max)
"""Everything after is excluded."""

MIDNIGHT = time()
DAY = timedelta(days=1)
DAYS_OF_A_WEEK = 7

P = TypeVar("P", date, time)


@dataclass(frozen=True, slots=True)
class CalendarIndex:
    """The parts of a calendar as sets, and as spans that do not overlap."""

    dates: frozenset[date]
    weekdays: frozenset[int]
    yearly: frozenset[tuple[int, int]]
    ranges: tuple[tuple[date, ...], tuple[date, ...]]
    """First days and last days, both excluded."""
    hours: tuple[tuple[time, ...], tuple[time, ...]]
    """Starts, and ends that are not excluded; `time.max` is the end of the day."""

    @classmethod
    def of(cls, calendar: Calendar) -> CalendarIndex:
        spans: list[tuple[time, time]] = []
        for start, end in calendar.times:
            if start < end:
                spans.append((start, end))
            else:  # over midnight
                spans.append((start, time.max))
                spans += [(MIDNIGHT, end)] if end > MIDNIGHT else []
        return cls(
            frozenset(calendar.dates),
            frozenset(int(day) for day in calendar.weekdays),
            frozenset(calendar.yearly),
            _merged(calendar.ranges),
            _merged(spans),
        )

    def clear_wall(self, day: date, moment: time) -> datetime | None:
        """Where the exclusion of a wall time ends: the next wall time that may be clear.

        None: the wall time is not excluded. `NEVER`: nothing after it is clear.
        """
        last = self._last_excluded(day)
        if last is None:
            end = _end(self.hours, moment)
            if end is None or end <= moment:
                return None
            if end < time.max:
                return datetime.combine(day, end)
            if self.hours[0][0] == MIDNIGHT and self.hours[1][0] == time.max:
                return NEVER
            last = day
        return NEVER if last == date.max else datetime.combine(last + DAY, MIDNIGHT)

    def _last_excluded(self, day: date) -> date | None:
        """The last day of the excluded days that begin with this one; None: it is not excluded."""
        last = _end(self.ranges, day)
        if last is not None and last >= day:
            return last
        if day.isoweekday() % DAYS_OF_A_WEEK in self.weekdays:
            return date.max if len(self.weekdays) == DAYS_OF_A_WEEK else day
        if day in self.dates or (day.month, day.day) in self.yearly:
            return day
        return None


def _merged(spans: Iterable[tuple[P, P]]) -> tuple[tuple[P, ...], tuple[P, ...]]:
    """The starts and the ends of the spans in order; those that overlap are one."""
    starts: list[P] = []
    ends: list[P] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return tuple(starts), tuple(ends)


def _end(spans: tuple[tuple[P, ...], tuple[P, ...]], value: P) -> P | None:
    """The end of the last span that begins at or before the value."""
    index = bisect_right(spans[0], value)
    return spans[1][index - 1] if index else None
