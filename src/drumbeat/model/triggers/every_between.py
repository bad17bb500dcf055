"""`every_between(a, b)`: random intervals that all nodes agree on.

Time is divided into slots of (a+b)/2 from the start. Slot k fires at its beginning plus an offset
in [0, (b-a)/2], drawn by a stable hash of the schedule's name and k. Neighbouring ticks are then at
least a and at most b apart, and any tick can be computed directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject, known, whole
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.time.instant import EPOCH, aware
from drumbeat.model.triggers.anchor import Anchored
from drumbeat.model.triggers.every import (
    RESOLUTION,
    check_interval,
    describe_interval,
    read_interval,
)
from drumbeat.model.triggers.spread import drawn
from drumbeat.model.triggers.trigger import Trigger


@dataclass(frozen=True, slots=True)
class EveryBetween(Anchored):
    """Ticks whose distances, also from the start to the first, are between two durations."""

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
        return replace(self, start=start)

    def describe(self) -> str:
        shortest, longest = describe_interval(self.shortest), describe_interval(self.longest)
        return f"At random, every {shortest} to {longest}"

    def to_json(self) -> dict[str, object]:
        return {
            "type": self.kind,
            "a": whole(self.shortest),
            "b": whole(self.longest),
            **known(start=self.start and self.start.isoformat(), name=self.name or None),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, "type a b start name")
        return cls(
            shortest=fields.duration("a"),
            longest=fields.duration("b"),
            start=fields.instant("start"),
            name=fields.text("name", ""),
        )

    def bound(self, name: str) -> Trigger:
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

    They are drawn by the schedule's name, so that all nodes have the same ticks.
    """
    return EveryBetween(read_interval("a", a), read_interval("b", b), start)
