"""Sets of times of day, as durations since midnight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache
from typing import Protocol

# Shared values, so that a list of times takes a pointer or two per time.
_MINUTES = tuple(range(1_440))
_MINUTE_SECONDS = tuple(minute * 60 for minute in _MINUTES)
_MINUTE_LENGTHS = tuple(timedelta(minutes=minute) for minute in _MINUTES)
_SECOND_LENGTHS = tuple(timedelta(seconds=second) for second in range(60))


class TimesOfDay(Protocol):
    """A non-empty set of times of day, hashable and comparable."""

    @property
    def first(self) -> timedelta: ...

    def after(self, second: int) -> timedelta | None:
        """The first one later than `second`, since midnight; None if this day has no more."""
        ...


class ListedTimes:
    """A list of single times."""

    __slots__ = ("_hash", "_lengths", "_seconds", "first")

    def __init__(self, seconds: Iterable[int]) -> None:
        ordered = sorted(set(seconds))
        self._seconds = tuple(_shared_second(second) for second in ordered)
        self._lengths = tuple(_shared_length(second) for second in ordered)
        self.first = self._lengths[0]
        self._hash = hash(self._seconds)

    def after(self, second: int) -> timedelta | None:
        index = bisect_right(self._seconds, second)
        return self._lengths[index] if index < len(self._lengths) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListedTimes) and self._seconds == other._seconds

    def __hash__(self) -> int:
        return self._hash


class GridTimes:
    """The same seconds of each listed minute: up to every second of the day."""

    __slots__ = ("_hash", "_minutes", "_seconds", "first")

    def __init__(self, minutes: Iterable[int], seconds: Iterable[int]) -> None:
        self._minutes = tuple(_MINUTES[minute] for minute in sorted(set(minutes)))
        self._seconds = tuple(sorted(set(seconds)))
        self.first = _MINUTE_LENGTHS[self._minutes[0]] + _SECOND_LENGTHS[self._seconds[0]]
        self._hash = hash((self._minutes, self._seconds))

    def after(self, second: int) -> timedelta | None:
        minute, within = divmod(second, 60)
        minutes, seconds = self._minutes, self._seconds
        index = bisect_left(minutes, minute)
        if index < len(minutes) and minutes[index] == minute:
            later = bisect_right(seconds, within)
            if later < len(seconds):
                return _MINUTE_LENGTHS[minute] + _SECOND_LENGTHS[seconds[later]]
            index += 1
        if index == len(minutes):
            return None
        return _MINUTE_LENGTHS[minutes[index]] + _SECOND_LENGTHS[seconds[0]]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GridTimes)
            and self._minutes == other._minutes
            and self._seconds == other._seconds
        )

    def __hash__(self) -> int:
        return self._hash


@lru_cache(maxsize=1024)
def crossed_times(
    hours: tuple[int, ...], minutes: tuple[int, ...], seconds: tuple[int, ...]
) -> TimesOfDay:
    """Every combination of the given hours, minutes and seconds."""
    of_day = [hour * 60 + minute for hour in hours for minute in minutes]
    if seconds == (0,):
        return ListedTimes(minute * 60 for minute in of_day)
    return GridTimes(of_day, seconds)


def _shared_second(second: int) -> int:
    return second if second % 60 else _MINUTE_SECONDS[second // 60]


def _shared_length(second: int) -> timedelta:
    return timedelta(seconds=second) if second % 60 else _MINUTE_LENGTHS[second // 60]
