"""`weekly("mon", "09:00")`: days of the week, every week or every few weeks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.text import listed
from drumbeat.model.time.time_of_day import read_times
from drumbeat.model.time.weekday import Weekday, read_weekdays
from drumbeat.model.triggers.days import WeekDays, day_number
from drumbeat.model.triggers.recurring import FIELDS, Recurring, Times, read_recurring, zone_fields
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.model.triggers.wall_clock import Days


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekly(Recurring):
    """Times of day on some days of the week, every `interval` weeks. Weeks begin on Monday."""

    kind: ClassVar[str] = "weekly"

    days: tuple[Weekday, ...]

    def days_from(self, origin: date) -> Days:
        return WeekDays(frozenset(self.days), self.interval, day_number(origin))

    def describe(self) -> str:
        days = listed([day.label for day in self.days])
        if self.interval == 1:
            return f"{self.described_times()} every {days} ({self.tz})"
        return f"{self.described_times()} on {days} every {self.interval} weeks ({self.tz})"

    def to_json(self) -> dict[str, object]:
        return {**Recurring.to_json(self), "days": [day.short for day in self.days]}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, f"{FIELDS} days")
        return cls(days=_read_days(fields.texts("days")), **read_recurring(fields))


def weekly(
    days: str | int | Iterable[str | int],
    times: Times,
    *,
    interval: int = 1,
    tz: str | tzinfo | None = None,
    start: datetime | None = None,
) -> Trigger:
    """Times of day on days of the week: `weekly(["mon", "thu"], "09:00")`.

    Days are names, or numbers as in cron (0 and 7 are Sunday). With an `interval` only every
    `interval` weeks, from the week of `start`, by default the week in which the schedule is first
    stored.
    """
    return Weekly(
        days=_read_days([days] if isinstance(days, str | int) else days),
        times=read_times(times),
        interval=interval,
        start=start,
        **zone_fields(tz),
    )


def _read_days(days: Iterable[str | int]) -> tuple[Weekday, ...]:
    weekdays = read_weekdays(days)
    if not weekdays:
        raise InvalidTrigger("days: at least one day of the week is needed")
    return weekdays
