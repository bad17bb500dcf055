"""`every(minutes=5)`: fixed intervals of elapsed time, independent of the wall clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject, known, whole
from drumbeat.model.errors import InvalidInput, InvalidTrigger
from drumbeat.model.time.duration import describe_duration, parse_duration
from drumbeat.model.time.instant import EPOCH, aware
from drumbeat.model.triggers.anchor import Anchored
from drumbeat.model.triggers.trigger import Trigger

RESOLUTION = timedelta(milliseconds=1)  # every store keeps at least milliseconds
LONGEST = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class Every(Anchored):
    """Ticks at the start and at each whole interval after it.

    With `from_completion` the next interval begins when the last job ended. Only the planner knows
    that; here such a trigger behaves as a plain interval.
    """

    kind: ClassVar[str] = "every"

    interval: timedelta
    start: datetime | None = None
    from_completion: bool = False

    def __post_init__(self) -> None:
        check_interval("interval", self.interval)
        if self.start is not None:
            object.__setattr__(self, "start", aware("start", self.start))

    def next_after(self, instant: datetime) -> datetime | None:
        start = self.start or EPOCH
        elapsed = aware("instant", instant) - start
        if elapsed < timedelta(0):
            return start
        try:
            return start + (elapsed // self.interval + 1) * self.interval
        except OverflowError:
            return None

    def starting(self, start: datetime | None) -> Trigger:
        return replace(self, start=start)

    def describe(self) -> str:
        if self.from_completion:
            return f"{describe_duration(self.interval)} after the last run ended".capitalize()
        return f"Every {describe_interval(self.interval)}"

    def to_json(self) -> dict[str, object]:
        return {
            "type": self.kind,
            "interval": whole(self.interval),
            **known(
                start=self.start and self.start.isoformat(),
                from_completion=self.from_completion or None,
            ),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, "type interval start from_completion")
        return cls(
            interval=fields.duration("interval"),
            start=fields.instant("start"),
            from_completion=fields.flag("from_completion"),
        )


def every(
    interval: timedelta | str | None = None,
    *,
    weeks: float = 0,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
    start: datetime | None = None,
    from_completion: bool = False,
) -> Trigger:
    """A tick at each whole interval after the start: `every(minutes=5)`, `every("1h30m")`.

    The interval is elapsed time: `every(days=1)` is 24 hours, also when the clock changes, while
    `daily` keeps the time of day. Without a `start` it starts when the schedule is first stored.
    """
    given = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    if interval is not None:
        if given:
            raise InvalidTrigger("interval: give it as one argument or by its units, not both")
        given = read_interval("interval", interval)
    return Every(given, start, from_completion)


def read_interval(field: str, value: timedelta | str | float) -> timedelta:
    """A duration in any accepted form; raises `InvalidTrigger`."""
    try:
        return parse_duration(value)
    except InvalidInput as error:
        raise InvalidTrigger(f"{field}: {error}") from None


def check_interval(field: str, interval: timedelta) -> None:
    """Reject intervals that are too short or too long for stores and calendars."""
    if not RESOLUTION <= interval <= LONGEST:
        raise InvalidTrigger(
            f"{field}: {interval} is out of range; allowed: from 1 millisecond to 100 years"
        )
    if interval % RESOLUTION:
        raise InvalidTrigger(f"{field}: {interval} is finer than a millisecond")


def describe_interval(interval: timedelta) -> str:
    """`5 minutes`, or `minute` for one, to follow "every"."""
    words = describe_duration(interval)
    count, _, unit = words.partition(" ")
    return unit if count == "1" and " " not in unit else words
