"""The days that the last three fields of a cron expression match.

If both day of month and day of week are restricted, a day that matches either one counts. If one of
them begins with a star (also `*/2`) or is `?`, a day must match both, as in Vixie cron.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from drumbeat.model.time.weekday import Weekday
from drumbeat.model.triggers.cron.syntax import (
    CronField,
    FromEnd,
    Item,
    NearestWeekday,
    NthWeekday,
    Span,
)
from drumbeat.model.triggers.days import MonthDays, SteadyDays, WeekDays
from drumbeat.model.triggers.wall_clock import Days

_FEBRUARY = 2
_LONG_MONTHS = frozenset({1, 3, 5, 7, 8, 10, 12})


@dataclass(frozen=True, slots=True)
class CronDays(MonthDays):
    """Days by month, day of month and day of week."""

    months: frozenset[int]
    days: frozenset[int]
    weekdays: frozenset[int]
    specials: frozenset[Item]
    both: bool
    """Whether a day must match day of month and day of week, and not just one of them."""
    _masks: dict[int, int] = field(
        init=False, compare=False, repr=False, default_factory=dict[int, int]
    )

    def has_month(self, month: int) -> bool:
        return month % 12 + 1 in self.months

    def mask(self, length: int, first: int) -> int:
        """The matching days of a month of that shape. There are 28 shapes, which are cached."""
        shape = length * 7 + first
        known = self._masks.get(shape)
        if known is None:
            known = self._masks[shape] = self._computed(length, first)
        return known

    @property
    def possible(self) -> bool:
        """Whether any day of any year can match."""
        return any(
            self.mask(length, first)
            for month in self.months
            for length in _lengths(month)
            for first in range(7)
        )

    def _computed(self, length: int, first: int) -> int:
        by_month = sum(1 << day for day in self.days if day <= length)
        by_week = sum(
            1 << day for day in range(1, length + 1) if (first + day - 1) % 7 in self.weekdays
        )
        for special in self.specials:
            match special:
                case FromEnd(back):
                    by_month |= 1 << max(length - back, 0)
                case NearestWeekday(day, back):
                    wanted = length - back if day is None else day
                    by_month |= 1 << _nearest_weekday(wanted, length, first)
                case NthWeekday(weekday, nth):
                    by_week |= 1 << _nth_weekday(weekday, nth, length, first)
                case Span():
                    pass
        matching = by_month & by_week if self.both else by_month | by_week
        return matching & ~1  # bit 0 collects the special days that this month does not have


@lru_cache(maxsize=1024)
def cron_days(days: CronField, months: CronField, weekdays: CronField) -> Days | None:
    """The days that an expression matches; None if no day ever can."""
    if months.full and days.full and days.starred and not _specials(days, weekdays):
        if weekdays.full:
            return SteadyDays()
        return WeekDays(frozenset(Weekday(value) for value in weekdays.values))
    rule = CronDays(
        months=frozenset(months.values),
        days=frozenset(days.values),
        weekdays=frozenset(weekdays.values),
        specials=_specials(days, weekdays),
        both=days.starred or weekdays.starred,
    )
    return rule if rule.possible else None


def _specials(*fields: CronField) -> frozenset[Item]:
    return frozenset(item for field in fields for item in field.items if not isinstance(item, Span))


def _lengths(month: int) -> tuple[int, ...]:
    if month == _FEBRUARY:
        return 28, 29
    return (31,) if month in _LONG_MONTHS else (30,)


def _nearest_weekday(day: int, length: int, first: int) -> int:
    """The weekday nearest to `day` in the same month; 0 if the month has no such day."""
    if not 1 <= day <= length:
        return 0
    weekday = (first + day - 1) % 7
    if weekday == Weekday.SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == Weekday.SUNDAY:
        return day + 1 if day < length else day - 2
    return day


def _nth_weekday(weekday: int, nth: int | None, length: int, first: int) -> int:
    """The day of the nth, or the last, such weekday; 0 if the month has none."""
    earliest = 1 + (weekday - first) % 7
    if nth is None:
        return earliest + (length - earliest) // 7 * 7
    day = earliest + (nth - 1) * 7
    return day if day <= length else 0
