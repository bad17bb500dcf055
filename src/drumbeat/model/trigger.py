"""Triggers: the time part of a schedule.

A trigger is a frozen value that names instants, its *ticks*. The set of ticks is fixed by the value
alone: what `next_after` answers never depends on earlier calls or on where a walk began.

The kinds live in `drumbeat.model.triggers`; `Excluding` lives here, since every trigger can be
given calendars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib import import_module
from itertools import takewhile
from typing import ClassVar, Self

from drumbeat.model.calendar import JUMP_LIMIT, Calendar
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.instant import aware
from drumbeat.model.json_object import JsonObject
from drumbeat.model.steps import STEPS_PER_TICK, Steps
from drumbeat.model.zones import HORIZON_DAYS, DstGap, DstRepeat

HORIZON = timedelta(days=HORIZON_DAYS)
SMALLEST_STEP = timedelta(microseconds=1)

_KINDS: dict[str, type[Trigger]] = {}


class Trigger(ABC):
    """Names the instants at which a schedule shall act."""

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

        The instant must be aware, in any zone, else `NaiveDatetime`. None means never again, or
        not within the search horizon of 50 years. `TriggerTooExpensive` if it is not found within
        a budget of steps, which only triggers with calendars and joined ones can use up.
        """

    def next_within(self, instant: datetime, steps: Steps) -> datetime | None:
        """Like `next_after`, with a budget that the caller shares between several searches."""
        steps.spend()
        return self.next_after(instant)

    @property
    def parts(self) -> int:
        """How many triggers and calendars it is made of: what naming and judging one tick costs."""
        return 1

    def named_after(self, instant: datetime) -> datetime | None:
        """Like `next_after`, but ticks that a calendar excludes count too."""
        return self.next_after(instant)

    def excludes(self, tick: datetime) -> bool:
        """Whether a calendar excludes this tick, which `named_after` named."""
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
        """The rule in one English phrase, such as `At 02:30 every day (Europe/Paris)`."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """JSON-safe values with a `type`; `trigger_from_json` gives the equal trigger."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        """The trigger that `to_json` wrote; bad data is an `InvalidTrigger` naming the field."""

    def bound(self, name: str) -> Trigger:
        """The trigger spread by the name of its schedule; itself if nothing in it is spread."""
        del name
        return self

    def anchored(self, at: datetime) -> Trigger:
        """The trigger with its intervals counted from `at`, where they have no start yet."""
        del at
        return self

    def without_anchor(self) -> Trigger:
        """The bare rule, without the start that its intervals are counted from."""
        return self

    def same_rule(self, other: Trigger) -> bool:
        """Whether both are equal but for the start that their intervals are counted from."""
        return self.without_anchor() == other.without_anchor()

    def with_anchor_of(self, other: Trigger) -> Trigger:
        """The trigger with the start of a stored one of the same rule.

        What has a start of its own keeps it; if the rules differ nothing is taken over. So the
        result equals the stored trigger exactly if a redeploy changed nothing.
        """
        del other
        return self

    def with_dst(
        self, gap: DstGap | str | None = None, repeat: DstRepeat | str | None = None
    ) -> Trigger:
        """The trigger with these policies for gaps and repeats of the clock; None keeps the old.

        Itself for triggers that read no wall clock. Bad policies are an `InvalidPolicy`.
        """
        del gap, repeat
        return self

    def excluding(self, *calendars: Calendar) -> Trigger:
        """The trigger without the ticks that any of the calendars excludes."""
        return Excluding(self, calendars) if calendars else self


def trigger_from_json(data: Mapping[str, object]) -> Trigger:
    """The trigger that `to_json` wrote, else `InvalidTrigger` naming the field."""
    import_module("drumbeat.model.triggers")  # its modules import this one, and register there
    kind = data.get("type")
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise InvalidTrigger(f"type: {kind!r} is no trigger; allowed: {', '.join(sorted(_KINDS))}")
    try:
        return known.from_json(data)
    except RecursionError:
        raise InvalidTrigger("trigger: triggers are nested too deeply") from None


@dataclass(frozen=True, slots=True)
class Excluding(Trigger):
    """A trigger whose ticks rest at the times of some calendars.

    The search for the next tick that is left jumps over all that a calendar excludes. It gives up,
    with None, after 50 years or 20,000 jumps, and with `TriggerTooExpensive` once it, and what is
    nested in it, has used up its budget of steps.
    """

    kind: ClassVar[str] = "excluding"

    trigger: Trigger
    calendars: tuple[Calendar, ...]

    def next_after(self, instant: datetime) -> datetime | None:
        """The first tick strictly later than the instant that no calendar excludes."""
        return self.next_within(instant, Steps())

    def next_within(self, instant: datetime, steps: Steps) -> datetime | None:
        """The same, with a budget that searches within it share."""
        tick = self.trigger.next_within(instant, steps)
        for _ in range(JUMP_LIMIT):
            if tick is None or tick - instant > HORIZON:
                return None
            calendar = self._excluding(tick)
            if calendar is None:
                return tick
            # Over all that this calendar excludes at once: a tick per second stays affordable.
            clear = calendar.clear_from(tick, steps)
            if clear is None:
                return None
            tick = self.trigger.next_within(clear - SMALLEST_STEP, steps)
        return None

    @property
    def parts(self) -> int:
        """Its trigger's parts, and its calendars."""
        return self.trigger.parts + len(self.calendars)

    def named_after(self, instant: datetime) -> datetime | None:
        """The first tick strictly later than the instant, excluded or not."""
        return self.trigger.named_after(instant)

    def excludes(self, tick: datetime) -> bool:
        """Whether a calendar excludes this tick."""
        return self._excluding(tick) is not None or self.trigger.excludes(tick)

    def describe(self) -> str:
        """The rule, then what it leaves out."""
        exceptions = "; ".join(calendar.describe() for calendar in self.calendars)
        return f"{self.trigger.describe()}, except {exceptions}"

    def to_json(self) -> dict[str, object]:
        """JSON-safe values with a `type`."""
        calendars = [calendar.to_json() for calendar in self.calendars]
        return {"type": self.kind, "trigger": self.trigger.to_json(), "calendars": calendars}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        """The trigger that `to_json` wrote."""
        fields = JsonObject(cls.kind, data, "type trigger calendars")
        calendars = [Calendar.from_json(item) for item in fields.items("calendars")]
        if not calendars:
            raise fields.problem("calendars", "at least one calendar is needed")
        return trigger_from_json(fields.mapping("trigger")).excluding(*calendars)

    def bound(self, name: str) -> Trigger:
        """The same calendars around the bound trigger."""
        return self._around(self.trigger.bound(name))

    def anchored(self, at: datetime) -> Trigger:
        """The same calendars around the anchored trigger."""
        return self._around(self.trigger.anchored(at))

    def without_anchor(self) -> Trigger:
        """The same calendars around the bare rule."""
        return self._around(self.trigger.without_anchor())

    def with_anchor_of(self, other: Trigger) -> Trigger:
        """The same calendars around the trigger with the start of the stored one."""
        if not isinstance(other, Excluding) or not self.same_rule(other):
            return self
        return self._around(self.trigger.with_anchor_of(other.trigger))

    def with_dst(
        self, gap: DstGap | str | None = None, repeat: DstRepeat | str | None = None
    ) -> Trigger:
        """The same calendars around the trigger with these policies."""
        return self._around(self.trigger.with_dst(gap, repeat))

    def excluding(self, *calendars: Calendar) -> Trigger:
        """The same trigger with further calendars."""
        return replace(self, calendars=(*self.calendars, *calendars))

    def _around(self, trigger: Trigger) -> Self:
        return self if trigger is self.trigger else replace(self, trigger=trigger)

    def _excluding(self, tick: datetime) -> Calendar | None:
        return next((each for each in self.calendars if each.excludes(tick)), None)
