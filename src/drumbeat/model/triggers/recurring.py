"""What `daily`, `weekly` and `monthly` have in common: times of day on certain days."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, tzinfo
from typing import TypedDict

from drumbeat.model.encoding.json_object import JsonObject, known
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.text import listed
from drumbeat.model.time.instant import EPOCH, MICROSECOND, aware
from drumbeat.model.time.time_of_day import describe_time, read_times, second_of_day
from drumbeat.model.time.zones import DstGap, DstRepeat, GapPolicy, RepeatPolicy, zone, zone_name
from drumbeat.model.triggers.anchor import Anchored
from drumbeat.model.triggers.times_of_day import ListedTimes
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.model.triggers.wall_clock import Days, WallClock, WallRule, wall_clock

LONGEST_INTERVAL = 1_000

Times = str | time | Iterable[str | time]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring(Anchored):
    """Times of day in a zone. An interval above one counts days, weeks or months from the start."""

    times: tuple[time, ...]
    interval: int = 1
    tz: str = "UTC"
    start: datetime | None = None
    dst_gap: DstGap = DstGap.RUN_AFTER
    dst_repeat: DstRepeat = DstRepeat.FIRST
    zone_given: bool = field(default=True, repr=False, compare=False)
    """False: it was written without a zone, and has UTC unless an app has another default."""
    _clock: WallClock = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.interval <= LONGEST_INTERVAL:
            raise InvalidTrigger(
                f"interval: {self.interval} is out of range; allowed: 1-{LONGEST_INTERVAL}"
            )
        if self.start is not None:
            object.__setattr__(self, "start", aware("start", self.start))
        place = zone(self.tz)
        origin = EPOCH.date() if self.start is None else self.start.astimezone(place.info).date()
        times = ListedTimes(second_of_day(moment) for moment in self.times)
        rule = WallRule(self.days_from(origin), times, place, False, self.dst_gap, self.dst_repeat)
        object.__setattr__(self, "_clock", wall_clock(rule))

    @abstractmethod
    def days_from(self, origin: date) -> Days:
        """The days that match, counted from the origin."""

    @property
    def counts(self) -> bool:
        return self.interval > 1

    def next_after(self, instant: datetime) -> datetime | None:
        if self.start is not None:
            instant = max(aware("instant", instant), self.start - MICROSECOND)
        return self._clock.next_after(instant)

    def starting(self, start: datetime | None) -> Trigger:
        return replace(self, start=start)

    def with_dst(self, gap: GapPolicy = None, repeat: RepeatPolicy = None) -> Trigger:
        return replace(
            self,
            dst_gap=self.dst_gap if gap is None else DstGap.read(gap),
            dst_repeat=self.dst_repeat if repeat is None else DstRepeat.read(repeat),
        )

    def in_zone(self, tz: str) -> Trigger:
        return self if self.zone_given else replace(self, **zone_fields(tz))

    def to_json(self) -> dict[str, object]:
        return {
            "type": self.kind,
            "times": [moment.isoformat() for moment in self.times],
            "interval": self.interval,
            **known(tz=self.tz if self.zone_given else None),
            "dst_gap": self.dst_gap.value,
            "dst_repeat": self.dst_repeat.value,
            **known(start=self.start and self.start.isoformat()),
        }

    def described_times(self) -> str:
        """`At 09:00 and 17:00`."""
        return f"At {listed([describe_time(moment) for moment in self.times])}"


class ZoneFields(TypedDict):
    """The zone of `Recurring`, and whether it was given."""

    tz: str
    zone_given: bool


def zone_fields(tz: str | tzinfo | None) -> ZoneFields:
    return {"tz": "UTC" if tz is None else zone_name(tz), "zone_given": tz is not None}


FIELDS = "type times interval tz start dst_gap dst_repeat"


class RecurringFields(ZoneFields):
    """The fields of `Recurring`."""

    times: tuple[time, ...]
    interval: int
    start: datetime | None
    dst_gap: DstGap
    dst_repeat: DstRepeat


def read_recurring(fields: JsonObject) -> RecurringFields:
    return {
        "times": read_times(fields.texts("times")),
        "interval": fields.integer("interval", 1),
        **zone_fields(fields.zone("tz")),
        "start": fields.instant("start"),
        "dst_gap": fields.gap(),
        "dst_repeat": fields.repeat(),
    }
