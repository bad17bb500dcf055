"""Calendars: the times at which a schedule does not fire.

A calendar excludes whole dates (listed, in ranges, every week, every year) and hours of the day,
all on the wall clock of its zone. `trigger.excluding(calendar)` applies it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from drumbeat.model.encoding.json_object import JsonObject
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.text import MONTHS, listed
from drumbeat.model.time.calendar_index import NEVER, CalendarIndex
from drumbeat.model.time.instant import EPOCH, aware
from drumbeat.model.time.time_of_day import describe_time, read_time
from drumbeat.model.time.weekday import Weekday, read_weekdays
from drumbeat.model.time.zones import DstGap, DstRepeat, whole_seconds, zone, zone_name
from drumbeat.model.triggers.steps import Steps

JUMP_LIMIT = 20_000  # single days of more than 50 years

_FIELDS = "dates ranges weekdays yearly times tz"
_LEAP_YEAR = 2000


@dataclass(frozen=True, slots=True, init=False)
class Calendar:
    """Excluded dates and hours; an instant is excluded if any part excludes it.

    - `dates`: single dates;
    - `ranges`: pairs of dates, first and last both excluded;
    - `weekdays`: by name, or number as in cron (0 and 7 are Sunday);
    - `yearly`: dates of every year, as `"12-25"` or `(12, 25)`;
    - `times`: pairs of times of day, from the first up to but not including the second; a pair such
      as `("22:00", "06:00")` goes over midnight.

    Dates and times may be given as text in ISO form. Anything else is an `InvalidTrigger`.
    """

    dates: tuple[date, ...]
    ranges: tuple[tuple[date, date], ...]
    weekdays: tuple[Weekday, ...]
    yearly: tuple[tuple[int, int], ...]
    times: tuple[tuple[time, time], ...]
    tz: str
    zone_given: bool = field(init=False, repr=False, compare=False)
    """False: it was written without a zone, and has UTC unless an app has another default."""
    _index: CalendarIndex = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        *,
        dates: Iterable[date | str] = (),
        ranges: Iterable[tuple[date | str, date | str]] = (),
        weekdays: Iterable[str | int] = (),
        yearly: Iterable[str | tuple[int, int]] = (),
        times: Iterable[tuple[time | str, time | str]] = (),
        tz: str | tzinfo | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "dates", tuple(sorted({_date("dates", day) for day in dates})))
        put(self, "ranges", tuple(sorted({_range(*pair) for pair in ranges})))
        put(self, "weekdays", read_weekdays(weekdays))
        put(self, "yearly", tuple(sorted({_yearly(day) for day in yearly})))
        put(self, "times", tuple(sorted({_hours(*pair) for pair in times})))
        put(self, "tz", "UTC" if tz is None else zone_name(tz))
        put(self, "zone_given", tz is not None)
        if not (self.dates or self.ranges or self.weekdays or self.yearly or self.times):
            raise InvalidTrigger("a calendar needs at least one date, range, weekday or time")
        put(self, "_index", CalendarIndex.of(self))

    def excludes(self, instant: datetime) -> bool:
        """Whether the instant, which must be aware, is excluded."""
        local = aware("instant", instant).astimezone(zone(self.tz).info)
        return self._index.clear_wall(local.date(), local.time()) is not None

    def clear_from(self, instant: datetime, steps: Steps | None = None) -> datetime | None:
        """The end of the excluded time at the instant; the instant itself if it is not excluded.

        None if all time is excluded for ever, or for `JUMP_LIMIT` days, ranges or spans of hours in
        a row. Each jump over one of these takes a step.
        """
        position = aware("instant", instant)
        budget = Steps(JUMP_LIMIT) if steps is None else steps
        for _ in range(JUMP_LIMIT):
            local = position.astimezone(zone(self.tz).info)
            wall = self._index.clear_wall(local.date(), local.time())
            if wall is None:
                return position
            if wall == NEVER:
                return None
            budget.spend()
            position = self._first_after(position, wall)
        return None

    def describe(self) -> str:
        """The exclusions in words, to be used after "except"."""
        parts: list[str] = []
        if self.weekdays:
            parts.append(listed([day.label for day in self.weekdays]))
        parts += [f"{day} {MONTHS[month - 1]}" for month, day in self.yearly]
        parts += [f"{day:%Y-%m-%d}" for day in self.dates]
        parts += [f"{first:%Y-%m-%d} to {last:%Y-%m-%d}" for first, last in self.ranges]
        parts += [
            f"from {describe_time(start)} to {describe_time(end)}" for start, end in self.times
        ]
        return f"{', '.join(parts)} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        """The calendar as JSON; `from_json` returns an equal calendar."""
        parts: dict[str, list[object]] = {
            "dates": [day.isoformat() for day in self.dates],
            "ranges": [[first.isoformat(), last.isoformat()] for first, last in self.ranges],
            "weekdays": [day.short for day in self.weekdays],
            "yearly": [f"{month:02}-{day:02}" for month, day in self.yearly],
            "times": [[start.isoformat(), end.isoformat()] for start, end in self.times],
        }
        zone_key = {"tz": self.tz} if self.zone_given else {}
        return {**{name: part for name, part in parts.items() if part}, **zone_key}

    @classmethod
    def from_json(cls, data: object) -> Calendar:
        """Read what `to_json` wrote; raises `InvalidTrigger`, which names the field."""
        fields = JsonObject("calendar", data, _FIELDS)
        return cls(
            dates=fields.texts("dates"),
            ranges=fields.pairs("ranges"),
            weekdays=fields.texts("weekdays"),
            yearly=fields.texts("yearly"),
            times=fields.pairs("times"),
            tz=fields.zone("tz"),
        )

    def in_zone(self, tz: str) -> Calendar:
        """The calendar with this zone if it was written without one."""
        if self.zone_given:
            return self
        return Calendar(
            dates=self.dates,
            ranges=self.ranges,
            weekdays=[day.short for day in self.weekdays],
            yearly=self.yearly,
            times=self.times,
            tz=tz,
        )

    def _first_after(self, position: datetime, wall: datetime) -> datetime:
        """The first instant after the position at which the clock reaches the wall time."""
        seconds = whole_seconds(wall.replace(tzinfo=UTC))
        for instant in zone(self.tz).instants(seconds, DstGap.RUN_AFTER, DstRepeat.BOTH):
            reached = EPOCH + timedelta(seconds=instant)
            if reached > position:
                return reached
        # The clock went back over this wall time, so it will come again.
        return position + timedelta(seconds=1)


def _date(name: str, value: date | str) -> date:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise InvalidTrigger(
                f"calendar: {name}: {value!r} is not a date; use a form such as '2026-12-25'"
            ) from None
    return value.date() if isinstance(value, datetime) else value


def _range(first: date | str, last: date | str) -> tuple[date, date]:
    pair = _date("ranges", first), _date("ranges", last)
    if pair[0] > pair[1]:
        raise InvalidTrigger(f"calendar: ranges: {first} is later than {last}")
    return pair


def _yearly(value: str | tuple[int, int]) -> tuple[int, int]:
    try:
        month, day = (int(part) for part in value.split("-")) if isinstance(value, str) else value
        date(_LEAP_YEAR, month, day)
    except ValueError:
        raise InvalidTrigger(
            f"calendar: yearly: {value!r} is not a day of a year; use a form such as '12-25'"
        ) from None
    return month, day


def _hours(start: time | str, end: time | str) -> tuple[time, time]:
    pair = read_time(start), read_time(end)
    if pair[0] == pair[1]:
        raise InvalidTrigger(f"calendar: times: from {start} to {end} is empty")
    return pair
