"""`monthly(1, "09:00")`: days of the month, every month or every few months."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.text import listed, ordinal
from drumbeat.model.time.instant import MICROSECOND
from drumbeat.model.time.time_of_day import read_times
from drumbeat.model.triggers.days import MonthDays, month_number
from drumbeat.model.triggers.recurring import FIELDS, Recurring, Times, read_recurring, zone_fields
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.model.triggers.wall_clock import Days

LONGEST_MONTH = 31


@dataclass(frozen=True, slots=True)
class ChosenMonthDays(MonthDays):
    """Days of the month, also counted from its end, every `interval` months."""

    days: tuple[int, ...]
    interval: int
    origin: int

    def has_month(self, month: int) -> bool:
        return (month - self.origin) % self.interval == 0

    def mask(self, length: int, first: int) -> int:
        del first
        numbers = {day if day > 0 else length + 1 + day for day in self.days}
        return sum(1 << number for number in numbers if 1 <= number <= length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monthly(Recurring):
    """Times of day on some days of the month, every `interval` months."""

    kind: ClassVar[str] = "monthly"

    days: tuple[int, ...]

    def days_from(self, origin: date) -> Days:
        return ChosenMonthDays(self.days, self.interval, month_number(origin) % self.interval)

    def describe(self) -> str:
        forward = [day for day in self.days if day > 0]
        words = [f"the {_from_end(day)}" for day in self.days if day < 0]
        if forward:
            plural = "day" if len(forward) == 1 else "days"
            words.insert(0, f"{plural} {listed([str(day) for day in forward])}")
        nth = "" if self.interval == 1 else f"{ordinal(self.interval)} "
        return f"{self.described_times()} on {listed(words)} of every {nth}month ({self.tz})"

    def to_json(self) -> dict[str, object]:
        return {**Recurring.to_json(self), "days": list(self.days)}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, f"{FIELDS} days")
        return cls(days=_read_days(fields.integers("days")), **read_recurring(fields))


def monthly(
    days: int | Iterable[int],
    times: Times,
    *,
    interval: int = 1,
    tz: str | tzinfo | None = None,
    start: datetime | None = None,
) -> Trigger:
    """Times of day on days of the month: `monthly([1, -1], "09:00")` is the first and the last.

    Days are 1 to 31, or -1 to -31 from the end; a month without the day is skipped. With an
    `interval` only every `interval` months, from the month of `start`, by default the month in
    which the schedule is first stored.
    """
    trigger = Monthly(
        days=_read_days([days] if isinstance(days, int) else list(days)),
        times=read_times(times),
        interval=interval,
        start=start,
        **zone_fields(tz),
    )
    if start is not None and trigger.next_after(start - MICROSECOND) is None:
        raise InvalidTrigger(f"days: none of the months counted from {start:%Y-%m} has day {days}")
    return trigger


def _read_days(days: list[int]) -> tuple[int, ...]:
    if not days:
        raise InvalidTrigger("days: at least one day of the month is needed")
    for day in days:
        if not 1 <= abs(day) <= LONGEST_MONTH:
            raise InvalidTrigger(f"days: {day} is out of range; allowed: 1-31, or -1 to -31")
    return tuple(sorted(set(days), key=lambda day: (day < 0, day)))


def _from_end(day: int) -> str:
    return "last day" if day == -1 else f"{ordinal(-day)} last day"
