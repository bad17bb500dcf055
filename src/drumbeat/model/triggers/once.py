"""`once()`: one tick, or one at each of several instants."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject, known
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.text import listed
from drumbeat.model.time.instant import EPOCH, aware
from drumbeat.model.time.zones import DstGap, DstRepeat, whole_seconds, zone, zone_name
from drumbeat.model.triggers.anchor import Anchored
from drumbeat.model.triggers.trigger import Trigger

DESCRIBED = 5
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Once(Anchored):
    """Ticks at the listed instants; without any, at the start, when it is first stored."""

    kind: ClassVar[str] = "once"

    at: tuple[datetime, ...] = ()
    start: datetime | None = None

    def __post_init__(self) -> None:
        if len(self.at) > MOST:
            raise InvalidTrigger(f"at: {len(self.at):,} instants are too many; allowed: {MOST:,}")
        object.__setattr__(self, "at", tuple(sorted({aware("at", each) for each in self.at})))
        if self.start is not None:
            object.__setattr__(self, "start", aware("start", self.start))

    @property
    def counts(self) -> bool:
        return not self.at

    def next_after(self, instant: datetime) -> datetime | None:
        position = aware("instant", instant)
        ticks = self.at or (() if self.start is None else (self.start,))
        index = bisect_right(ticks, position)
        return ticks[index] if index < len(ticks) else None

    def anchored(self, at: datetime) -> Trigger:
        """Without listed instants, `at` itself is the one tick, to the microsecond."""
        if not self.counts or self.start is not None:
            return self
        return self.starting(aware("at", at))

    def starting(self, start: datetime | None) -> Trigger:
        return replace(self, start=start)

    def describe(self) -> str:
        ticks = self.at or (() if self.start is None else (self.start,))
        if not ticks:
            return "Once, as soon as it is stored"
        words = [f"{tick:%Y-%m-%d %H:%M:%S}" for tick in ticks[:DESCRIBED]]
        more = len(ticks) - len(words)
        words += [f"{more} more times"] if more else []
        return f"{'Once, at' if len(ticks) == 1 else 'At'} {listed(words)} (UTC)"

    def to_json(self) -> dict[str, object]:
        return {
            "type": self.kind,
            **known(
                at=[tick.isoformat() for tick in self.at] or None,
                start=self.start and self.start.isoformat(),
            ),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, "type at start")
        return cls(tuple(fields.instants("at")), fields.instant("start"))


def once(
    at: datetime | Iterable[datetime] | None = None, *, tz: str | tzinfo | None = None
) -> Trigger:
    """One tick at `at`, or one at each of several; with none, when the schedule is first stored.

    Datetimes must be aware, else `NaiveDatetime`. With a `tz`, those without a zone are local times
    of that zone (in a gap: the first instant after it; in a repeat: the first of the two).
    """
    if at is None:
        return Once()
    several = [at] if isinstance(at, datetime) else list(at)
    _refuse_texts(several)
    if not several:
        raise InvalidTrigger("at: at least one instant is needed; once() has none and runs at once")
    return Once(tuple(each if tz is None else _located(each, tz) for each in several))


def _refuse_texts(several: Sequence[object]) -> None:
    """Guards callers that do not use a type checker."""
    for each in several:
        if not isinstance(each, datetime):
            raise InvalidTrigger(f"at: {each!r} is not an instant; give an aware datetime")


def _located(moment: datetime, tz: str | tzinfo) -> datetime:
    name = zone_name(tz)
    if moment.tzinfo is not None:
        return moment
    wall = whole_seconds(moment.replace(tzinfo=UTC))
    (instant,) = zone(name).instants(wall, DstGap.RUN_AFTER, DstRepeat.FIRST)
    return EPOCH + timedelta(seconds=instant, microseconds=moment.microsecond)
