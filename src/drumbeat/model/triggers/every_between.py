"""`every_between(a, b)`: random intervals that all nodes agree on.

Time is cut into slots of (a+b)/2 from the start. Slot k fires at its beginning plus an offset in
[0, (b-a)/2] that is drawn by a stable hash of the schedule's name and k. Two neighbours are then at
least a and at most b apart, and any tick is found at once, from wherever one asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar

from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.instant import EPOCH, aware
from drumbeat.model.json_object import JsonObject, known, whole
from drumbeat.model.trigger import Trigger
from drumbeat.model.triggers.anchor import Anchored
from drumbeat.model.triggers.every import (
    RESOLUTION,
    check_interval,
    describe_interval,
    read_interval,
)
from drumbeat.model.triggers.spread import drawn


@dataclass(frozen=True, slots=True)
class EveryBetween(Anchored):
    """Ticks whose distances, also that of the first to the start, lie between two lengths."""

    kind: ClassVar[str] = "every_between"

    shortest: timedelta
    longest: timedelta
    start: datetime | None = None
    name: str = ""

    def __post_init__(self) -> None:
        check_interval("a", self.shortest)
        check_interval("b", self.longest)
        if self.shortest > self.longest:
            raise InvalidTrigger(f"a: {self.shortest} is longer than b, {self.longest}")
        if self.start is not None:
            object.__setattr__(self, "start", aware("start", self.start))

    def next_after(self, instant: datetime) -> datetime | None:
        """The first tick strictly later than the instant."""
        start = self.start or EPOCH
        elapsed = (aware("instant", instant) - start) // RESOLUTION
        slot = max(1, 2 * elapsed // ((self.shortest + self.longest) // RESOLUTION))
        tick = self._tick(slot)
        while tick <= elapsed:  # at most twice
            slot += 1
            tick = self._tick(slot)
        try:
            return start + tick * RESOLUTION
        except OverflowError:
            return None

    def starting(self, start: datetime | None) -> Trigger:
        """The same draws, counted from there."""
        return replace(self, start=start)

    def describe(self) -> str:
        """`At random, every 5 minutes to 10 minutes`."""
        shortest, longest = describe_interval(self.shortest), describe_interval(self.longest)
        return f"At random, every {shortest} to {longest}"

    def to_json(self) -> dict[str, object]:
        """JSON-safe values with a `type`."""
        return {
            "type": self.kind,
            "a": whole(self.shortest),
            "b": whole(self.longest),
            **known(start=self.start and self.start.isoformat(), name=self.name or None),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        """The trigger that `to_json` wrote."""
        fields = JsonObject(cls.kind, data, "type a b start name")
        return cls(
            shortest=fields.duration("a"),
            longest=fields.duration("b"),
            start=fields.instant("start"),
            name=fields.text("name", ""),
        )

    def bound(self, name: str) -> Trigger:
        """The trigger whose draws depend on the name."""
        return replace(self, name=name)

    def _tick(self, slot: int) -> int:
        """When a slot fires, in milliseconds after the start."""
        shortest, longest = self.shortest // RESOLUTION, self.longest // RESOLUTION
        offset = drawn(f"{self.name}\0{slot}", (longest - shortest) // 2 + 1)
        return slot * (shortest + longest) // 2 + offset


def every_between(
    a: timedelta | str | float, b: timedelta | str | float, *, start: datetime | None = None
) -> Trigger:
    """Ticks at random distances of at least `a` and at most `b`: `every_between("5m", "10m")`.

    Drawn from the schedule's name, so that every node names the same ticks.
    """
    return EveryBetween(read_interval("a", a), read_interval("b", b), start)
