"""Triggers: the time part of a schedule.

A trigger is a frozen value that determines instants, its *ticks*. The ticks depend on the value
alone: the result of `next_after` never depends on earlier calls.

The kinds of triggers are in the other files of this folder; `Excluding` is here, since every
trigger can be combined with calendars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib import import_module
from itertools import takewhile
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.time.calendar import JUMP_LIMIT, Calendar
from drumbeat.model.time.instant import MICROSECOND, aware
from drumbeat.model.time.zones import HORIZON_DAYS, GapPolicy, RepeatPolicy
from drumbeat.model.triggers.steps import STEPS_PER_TICK, Steps

HORIZON = timedelta(days=HORIZON_DAYS)

_KINDS: dict[str, type[Trigger]] = {}


class Trigger(ABC):
    """Determines the instants at which a schedule fires."""

    __slots__ = ()

    kind: ClassVar[str]
    """The value of `type` in JSON."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    @abstractmethod
    def next_after(self, instant: datetime) -> datetime | None:
        """The first tick strictly later than the instant that no calendar excludes, in UTC.

        The instant must be aware, in any zone, else `NaiveDatetime`. None: there is no tick within
        the search horizon of 50 years. `TriggerTooExpensive`: the search used up its budget of
        steps, which is only possible with calendars or `any_of`.
        """

    def next_within(self, instant: datetime, steps: Steps) -> datetime | None:
        """Like `next_after`, with a budget that the caller shares between several searches."""
        steps.spend()
        return self.next_after(instant)

    @property
    def parts(self) -> int:
        """The number of triggers and calendars in it: the cost of evaluating one tick."""
        return 1

    def named_after(self, instant: datetime) -> datetime | None:
        """Like `next_after`, but ticks that a calendar excludes count too."""
        return self.next_after(instant)

    def excludes(self, tick: datetime) -> bool:
        """Whether a calendar excludes this tick, which `named_after` has returned."""
        del tick
        return False

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The ticks strictly after `start`, up to and including `end`, in order."""
        limit = aware("end", end)
        return takewhile(lambda tick: tick <= limit, self.ticks_after(aware("start", start)))

    def ticks_after(self, instant: datetime, steps: Steps | None = None) -> Iterator[datetime]:
        """All ticks after an instant, in order, within one budget that grows with each of them."""
        budget = Steps() if steps is None else steps
        tick = self.next_within(instant, budget)
        while tick is not None:
            yield tick
            budget.allow(STEPS_PER_TICK)
            tick = self.next_within(tick, budget)

    @abstractmethod
    def describe(self) -> str:
        """The trigger in English, such as `At 02:30 every day (Europe/Paris)`."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """JSON-safe values with a `type`; `trigger_from_json` gives the equal trigger."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        """The trigger that `to_json` wrote; bad data is an `InvalidTrigger` naming the field."""

    def bound(self, name: str) -> Trigger:
        """The trigger with its random parts drawn by the name of its schedule, if it has any."""
        del name
        return self

    def anchored(self, at: datetime) -> Trigger:
        """The trigger with its intervals starting at `at`, unless they have a start."""
        del at
        return self

    def without_anchor(self) -> Trigger:
        """The trigger without the start of its intervals."""
        return self

    def same_rule(self, other: Trigger) -> bool:
        """Whether both are equal except for the start of their intervals."""
        return self.without_anchor() == other.without_anchor()

    def with_anchor_of(self, other: Trigger) -> Trigger:
        """The trigger with the start of a stored one, if they are equal otherwise.

        Intervals with a start of their own keep it. So the result equals the stored trigger exactly
        if a deployment changed nothing.
        """
        del other
        return self

    def with_dst(self, gap: GapPolicy = None, repeat: RepeatPolicy = None) -> Trigger:
        """The trigger with these policies for clock changes; None keeps the present one.

        Triggers that use no wall clock return themselves. Raises `InvalidPolicy`.
        """
        del gap, repeat
        return self

    def in_zone(self, tz: str) -> Trigger:
        """The trigger with this zone wherever it was written without one."""
        del tz
        return self

    def excluding(self, *calendars: Calendar) -> Trigger:
        """The trigger without the ticks that any of the calendars excludes."""
        return Excluding(self, calendars) if calendars else self


def trigger_from_json(data: Mapping[str, object]) -> Trigger:
    """The trigger that `to_json` wrote, else `InvalidTrigger` naming the field."""
    import_module("drumbeat.model.triggers")  # importing the kinds registers them
    kind = data.get("type")
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise InvalidTrigger(
            f"type: {kind!r} is not a trigger; allowed: {', '.join(sorted(_KINDS))}"
        )
    try:
        return known.from_json(data)
    except RecursionError:
        raise InvalidTrigger("trigger: triggers are nested too deeply") from None


class Combined(Trigger):
    """A trigger that is made of others."""

    __slots__ = ()

    @abstractmethod
    def changed(self, change: Callable[[Trigger], Trigger]) -> Trigger:
        """The trigger with each of its parts changed."""

    def next_after(self, instant: datetime) -> datetime | None:
        return self.next_within(instant, Steps())

    def bound(self, name: str) -> Trigger:
        return self.changed(lambda part: part.bound(name))

    def anchored(self, at: datetime) -> Trigger:
        return self.changed(lambda part: part.anchored(at))

    def without_anchor(self) -> Trigger:
        return self.changed(lambda part: part.without_anchor())

    def with_dst(self, gap: GapPolicy = None, repeat: RepeatPolicy = None) -> Trigger:
        return self.changed(lambda part: part.with_dst(gap, repeat))

    def in_zone(self, tz: str) -> Trigger:
        return self.changed(lambda part: part.in_zone(tz))


@dataclass(frozen=True, slots=True)
class Excluding(Combined):
    """A trigger without the ticks that some calendars exclude.

    The search for the next tick jumps over excluded time. It returns None after 50 years or 20,000
    jumps, and raises `TriggerTooExpensive` once it has used up its budget of steps, including that
    of nested searches.
    """

    kind: ClassVar[str] = "excluding"

    trigger: Trigger
    calendars: tuple[Calendar, ...]

    def next_within(self, instant: datetime, steps: Steps) -> datetime | None:
        tick = self.trigger.next_within(instant, steps)
        for _ in range(JUMP_LIMIT):
            if tick is None or tick - instant > HORIZON:
                return None
            calendar = self._excluding(tick)
            if calendar is None:
                return tick
            # Jump over everything that this calendar excludes, which may be many ticks.
            clear = calendar.clear_from(tick, steps)
            if clear is None:
                return None
            tick = self.trigger.next_within(clear - MICROSECOND, steps)
        return None

    @property
    def parts(self) -> int:
        return self.trigger.parts + len(self.calendars)

    def named_after(self, instant: datetime) -> datetime | None:
        return self.trigger.named_after(instant)

    def excludes(self, tick: datetime) -> bool:
        return self._excluding(tick) is not None or self.trigger.excludes(tick)

    def describe(self) -> str:
        exceptions = "; ".join(calendar.describe() for calendar in self.calendars)
        return f"{self.trigger.describe()}, except {exceptions}"

    def to_json(self) -> dict[str, object]:
        calendars = [calendar.to_json() for calendar in self.calendars]
        return {"type": self.kind, "trigger": self.trigger.to_json(), "calendars": calendars}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, "type trigger calendars")
        calendars = [Calendar.from_json(item) for item in fields.items("calendars")]
        if not calendars:
            raise fields.problem("calendars", "at least one calendar is needed")
        return trigger_from_json(fields.mapping("trigger")).excluding(*calendars)

    def with_anchor_of(self, other: Trigger) -> Trigger:
        if not isinstance(other, Excluding) or not self.same_rule(other):
            return self
        return self.changed(lambda trigger: trigger.with_anchor_of(other.trigger))

    def in_zone(self, tz: str) -> Trigger:
        calendars = tuple(calendar.in_zone(tz) for calendar in self.calendars)
        return replace(self, trigger=self.trigger.in_zone(tz), calendars=calendars)

    def excluding(self, *calendars: Calendar) -> Trigger:
        return replace(self, calendars=(*self.calendars, *calendars))

    def changed(self, change: Callable[[Trigger], Trigger]) -> Trigger:
        trigger = change(self.trigger)
        return self if trigger is self.trigger else replace(self, trigger=trigger)

    def _excluding(self, tick: datetime) -> Calendar | None:
        return next((each for each in self.calendars if each.excludes(tick)), None)
