"""`cron("*/5 * * * *")`: ticks by the fields of a cron expression, on the wall clock of a zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import ClassVar
from weakref import WeakValueDictionary

from drumbeat.model.encoding.json_object import JsonObject, known
from drumbeat.model.errors import InvalidCron, InvalidInput
from drumbeat.model.time.zones import (
    DstGap,
    DstGapName,
    DstRepeat,
    DstRepeatName,
    GapPolicy,
    RepeatPolicy,
    zone,
    zone_name,
)
from drumbeat.model.triggers.cron.days import cron_days
from drumbeat.model.triggers.cron.syntax import CronFields, field_texts, is_spread, read_cron
from drumbeat.model.triggers.cron.units import refuse_long_steps
from drumbeat.model.triggers.cron.words import describe_cron
from drumbeat.model.triggers.every import every
from drumbeat.model.triggers.times_of_day import crossed_times
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.model.triggers.wall_clock import WallClock, WallRule, wall_clock

_EVERY = "@every "
ZONE_PREFIXES = ("TZ=", "CRON_TZ=")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Cron(Trigger):
    """A cron expression in a zone. `cron()` gives equal triggers as one shared object.

    The policies for gaps and repeats matter to fixed times only. An expression whose minute or hour
    (or second, if it has one) begins with a star follows the clock as lived: nothing extra in a
    gap, both passes of a repeat.
    """

    kind: ClassVar[str] = "cron"

    expression: str
    """As it was written, without its zone and with normalised white space."""
    tz: str = "UTC"
    dst_gap: DstGap = DstGap.RUN_AFTER
    dst_repeat: DstRepeat = DstRepeat.FIRST
    name: str = ""
    """The schedule whose name draws `H` and `~`; empty while not bound, or without them."""
    zone_given: bool = field(default=True, repr=False, compare=False)
    """False: it was written without a zone, and has UTC unless an app has another default."""
    _clock: WallClock = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fields = self._fields()
        days = cron_days(fields.day, fields.month, fields.weekday)
        if days is None:
            raise InvalidCron(
                self.expression,
                "day of month",
                f"'{fields.day.text}' never occurs in month '{fields.month.text}'"
                + ("" if fields.weekday.full else f" on weekday '{fields.weekday.text}'"),
                "days that at least one of the months has",
            )
        times = crossed_times(fields.hour.values, fields.minute.values, fields.second.values)
        rule = WallRule(days, times, zone(self.tz), fields.lived, self.dst_gap, self.dst_repeat)
        object.__setattr__(self, "_clock", wall_clock(rule))

    def next_after(self, instant: datetime) -> datetime | None:
        return self._clock.next_after(instant)

    def describe(self) -> str:
        return f"{describe_cron(self._fields(), drawn=self.name != '')} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        return {
            "type": self.kind,
            "expression": self.expression,
            **known(tz=self.tz if self.zone_given else None),
            "dst_gap": self.dst_gap.value,
            "dst_repeat": self.dst_repeat.value,
            **known(name=self.name or None),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, "type expression tz dst_gap dst_repeat name")
        policies = fields.gap(), fields.repeat()
        expression, name = fields.text("expression"), fields.text("name", "")
        tz = fields.optional_text("tz")
        return fields.read("tz", lambda: _read(expression, tz, policies, name))

    def bound(self, name: str) -> Trigger:
        if name == self.name or not is_spread(self.expression):
            return self
        return _shared(replace(self, name=name))

    def with_dst(self, gap: GapPolicy = None, repeat: RepeatPolicy = None) -> Trigger:
        dst_gap = self.dst_gap if gap is None else DstGap.read(gap)
        dst_repeat = self.dst_repeat if repeat is None else DstRepeat.read(repeat)
        if (dst_gap, dst_repeat) == (self.dst_gap, self.dst_repeat):
            return self
        return _shared(replace(self, dst_gap=dst_gap, dst_repeat=dst_repeat))

    def in_zone(self, tz: str) -> Trigger:
        if self.zone_given:
            return self
        return _shared(replace(self, tz=zone_name(tz), zone_given=True))

    def _fields(self) -> CronFields:
        return read_cron(self.expression, self.name)


def cron(
    expression: str,
    *,
    tz: str | tzinfo | None = None,
    dst_gap: DstGapName = DstGap.RUN_AFTER,
    dst_repeat: DstRepeatName = DstRepeat.FIRST,
) -> Trigger:
    """Ticks by a cron expression: `cron("30 2 * * *", tz="Europe/Paris")`.

    Five fields, six with seconds first, `@daily` and friends, or `@every 15m` (which is `every`).
    The zone may also be a prefix, `TZ=Europe/Paris 30 2 * * *`; the default is that of the app, or
    UTC. Expressions that cannot be read, can never match, or have a step that exceeds its field
    (`*/60`) are an `InvalidCron`.
    """
    trigger = _read(expression, tz, (DstGap.read(dst_gap), DstRepeat.read(dst_repeat)), "")
    if isinstance(trigger, Cron):
        check_steps(trigger)
    return trigger


def check_steps(trigger: Cron) -> None:
    """Reject a step that exceeds its field, such as `*/60`: it would match one value only."""
    refuse_long_steps(trigger.expression, field_texts(trigger.expression))


# Schedules with the same expression share one trigger. Weak, so that unused ones are freed.
_CRONS: WeakValueDictionary[tuple[str, str, DstGap, DstRepeat, str, bool], Cron] = (
    WeakValueDictionary()
)


def _read(
    expression: str, tz: str | tzinfo | None, policies: tuple[DstGap, DstRepeat], name: str
) -> Trigger:
    text, zone_key = _zoned(" ".join(expression.split()), tz)
    if text.lower().startswith(_EVERY):
        return _interval(text)
    bound_name = name if is_spread(text) else ""
    fields = text, zone_key or "UTC", *policies, bound_name, zone_key is not None
    shared = _CRONS.get(fields)
    return shared if shared is not None else _shared(Cron(*fields))


def _shared(trigger: Cron) -> Cron:
    policies = trigger.dst_gap, trigger.dst_repeat
    key = trigger.expression, trigger.tz, *policies, trigger.name, trigger.zone_given
    return _CRONS.setdefault(key, trigger)


def _zoned(text: str, tz: str | tzinfo | None) -> tuple[str, str | None]:
    """The expression without its zone prefix, and the name of its zone, if it has one."""
    if not text.startswith(ZONE_PREFIXES):
        return text, None if tz is None else zone_name(tz)
    prefix, _, rest = text.partition(" ")
    named = zone_name(prefix.partition("=")[2])
    if tz is not None and zone_name(tz) != named:
        problem = f"the prefix says {named!r}, but tz= says {zone_name(tz)!r}"
        raise InvalidCron(text, "time zone", problem, "the same zone, or only one of the two")
    return rest, named


def _interval(text: str) -> Trigger:
    try:
        return every(text[len(_EVERY) :])
    except InvalidInput as error:
        raise InvalidCron(text, "interval", str(error), "'@every 15m', '@every 1h30m'") from None
