"""Rules that match days: every few days, days of the week, days of the month.

Days are numbered from 1970-01-01, a Thursday; months from January of the year 0. Weeks begin on
Monday.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import date

from drumbeat.model.time.weekday import Weekday
from drumbeat.model.time.zones import HORIZON_YEARS
from drumbeat.model.triggers.wall_clock import FIRST_DAY, LAST_DAY

EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def day_number(day: date) -> int:
    return day.toordinal() - EPOCH_ORDINAL


def month_number(day: date) -> int:
    return day.year * 12 + day.month - 1


@dataclass(frozen=True, slots=True)
class SteadyDays:
    """Every `interval` days from the origin."""

    interval: int = 1
    origin: int = 0

    def next_day(self, day: int) -> int | None:
        return day + (self.origin - day) % self.interval


@dataclass(frozen=True, slots=True)
class WeekDays:
    """Days of the week, every `interval` weeks from the week of the origin."""

    weekdays: frozenset[Weekday]
    interval: int = 1
    origin: int = 0
    _monday: int = field(init=False, compare=False, repr=False)
    _ahead: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute one whole cycle: for each day, the distance to the next match."""
        length = 7 * self.interval
        matching = sorted((weekday - 1) % 7 for weekday in self.weekdays)
        ahead = tuple(
            min((match - position) % length for match in matching) for position in range(length)
        )
        object.__setattr__(self, "_monday", self.origin - (self.origin + 3) % 7)
        object.__setattr__(self, "_ahead", ahead)

    def next_day(self, day: int) -> int | None:
        ahead = self._ahead
        return day + ahead[(day - self._monday) % len(ahead)]


class MonthDays(ABC):
    """Days of months. The matches of a month depend only on its length and first weekday."""

    __slots__ = ()

    @abstractmethod
    def has_month(self, month: int) -> bool:
        """Whether the month of that number (see `month_number`) may have matches."""

    @abstractmethod
    def mask(self, length: int, first: int) -> int:
        """Bits 1 to 31: the matching days of a month of that length that begins on that weekday."""

    def next_day(self, day: int) -> int | None:
        """The first matching day at or after `day`; None if it is beyond the horizon."""
        if not FIRST_DAY <= day <= LAST_DAY:
            return None
        today = date.fromordinal(day + EPOCH_ORDINAL)
        month, earliest = month_number(today), today.day
        start = day - earliest + 1
        for candidate in range(month, month + HORIZON_YEARS * 12):
            length = _length(candidate)
            if self.has_month(candidate):
                left = self.mask(length, (start + 4) % 7) >> earliest
                if left:
                    return start + earliest - 1 + (left & -left).bit_length() - 1
            start += length
            earliest = 1
        return None


def _length(month: int) -> int:
    year, index = divmod(month, 12)
    if index == 1 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return 29
    return _MONTH_LENGTHS[index]
