"""The days of the week, numbered as in cron: 0 is Sunday, and 7 is Sunday too."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from enum import IntEnum

from drumbeat.model.errors import InvalidTrigger

ALLOWED = "0-7 (0 and 7 are Sunday), or a name such as 'mon' or 'Monday'"


class Weekday(IntEnum):
    """A day of the week."""

    SUNDAY = 0
    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6

    @property
    def label(self) -> str:
        """`Monday`."""
        return self.name.capitalize()

    @property
    def short(self) -> str:
        """`mon`, as JSON carries it."""
        return self.name[:3].lower()

    @classmethod
    def read(cls, value: str | int) -> Weekday:
        """The weekday that a name or a cron number means, else `InvalidTrigger`."""
        if isinstance(value, str):
            upper = value.strip().upper()
            for weekday in cls:
                if upper in (weekday.name, weekday.name[:3]):
                    return weekday
        elif 0 <= value <= 7:
            return cls(value % 7)
        raise InvalidTrigger(f"{value!r} is not a day of the week; allowed: {ALLOWED}")

    @classmethod
    def of(cls, day: date) -> Weekday:
        return cls(day.isoweekday() % 7)


def read_weekdays(values: Iterable[str | int]) -> tuple[Weekday, ...]:
    """The weekdays in order from Monday, each once; raises `InvalidTrigger`."""
    return tuple(sorted({Weekday.read(value) for value in values}, key=lambda day: (day - 1) % 7))
