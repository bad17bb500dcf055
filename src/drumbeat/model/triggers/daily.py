"""`daily("02:30")`: times of day, every day or every few days."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject
from drumbeat.model.text import each
from drumbeat.model.time.time_of_day import read_times
from drumbeat.model.triggers.days import SteadyDays, day_number
from drumbeat.model.triggers.recurring import FIELDS, Recurring, Times, read_recurring, zone_fields
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.model.triggers.wall_clock import Days


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily(Recurring):
    """Times of day, every `interval` days."""

    kind: ClassVar[str] = "daily"

    def days_from(self, origin: date) -> Days:
        return SteadyDays(self.interval, day_number(origin) % self.interval)

    def describe(self) -> str:
        return f"{self.described_times()} {each(self.interval, 'day')} ({self.tz})"

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        return cls(**read_recurring(JsonObject(cls.kind, data, FIELDS)))


def daily(
    times: Times,
    *,
    interval: int = 1,
    tz: str | tzinfo | None = None,
    start: datetime | None = None,
) -> Trigger:
    """Times of day on the wall clock: `daily("02:30", tz="Europe/Paris")`.

    With an `interval` only every `interval` days, from the date of `start`, by default the date on
    which the schedule is first stored.
    """
    return Daily(times=read_times(times), interval=interval, start=start, **zone_fields(tz))
