"""The syntax of cron expressions.

Five fields (minute, hour, day of month, month, day of week), or six with the second first. A field
is a list of items, separated by commas:

| item | meaning |
|---|---|
| `*`, `?` | every value |
| `5`, `MON`, `JAN` | one value |
| `9-17`, `22-2`, `FRI-MON` | a range, also over the end |
| `*/15`, `9-17/2`, `5/15` | every so many values of all, of a range, from a value on |
| `L`, `L-3` | day of month: the last, 3 before it |
| `15W`, `LW`, `L-3W` | day of month: the weekday nearest to the 15th, the last, 3 before it |
| `5L`, `MON#2` | day of week: the last Friday, the second Monday of the month |
| `H`, `H/15`, `H(9-17)`, `10~20` | one value (or one start of steps) drawn by the schedule's name |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, NoReturn

from drumbeat.model.errors import InvalidCron
from drumbeat.model.triggers.cron.units import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    UNITS,
    Unit,
    long_step_problem,
)
from drumbeat.model.triggers.spread import drawn

LONGEST_EXPRESSION = 256
MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
    "@every_second": "* * * * * *",
}
FORMS = (
    "five fields (minute, hour, day of month, month, day of week), six with the second first, "
    f"{', '.join(MACROS)} or '@every 15m'"
)
SAFE_DAY = 28  # the last day that every month has, so that a drawn day exists in February

_SPREAD = re.compile(r"~|\bH(?![A-Z])", re.IGNORECASE)
_DRAWN_RANGE = re.compile(r"H\((\w+)-(\w+)\)")


@dataclass(frozen=True, slots=True)
class Span:
    """Values from `first` to `last` by `step`; wraps around if `last` is smaller."""

    unit: Unit
    first: int
    last: int
    step: int = 1

    @property
    def values(self) -> tuple[int, ...]:
        """All of them, in the order of the span; Sunday is 0."""
        last = self.last if self.last >= self.first else self.last + self.unit.size
        low, size = self.unit.low, self.unit.size
        return tuple((v - low) % size + low for v in range(self.first, last + 1, self.step))


@dataclass(frozen=True, slots=True)
class FromEnd:
    """`L` and `L-n`: n days before the last day of the month."""

    back: int


@dataclass(frozen=True, slots=True)
class NearestWeekday:
    """`nW`, `LW` and `L-nW`: the day from Monday to Friday nearest to a day, in the same month."""

    day: int | None
    """None to count from the last day of the month."""
    back: int = 0
    """How many days before the last one."""


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`d#n` and `dL`: the first to fifth, or the last, of its kind in the month."""

    weekday: int
    nth: int | None
    """None for the last."""


Item = Span | FromEnd | NearestWeekday | NthWeekday


class CronField(NamedTuple):
    """One parsed field of an expression."""

    unit: Unit
    text: str
    items: tuple[Item, ...]
    values: tuple[int, ...]
    """Its plain values, sorted; Sunday is 0."""

    @property
    def starred(self) -> bool:
        """Whether it begins with a star, in the sense of Vixie cron."""
        return self.text.startswith(("*", "?"))

    @property
    def spread(self) -> bool:
        """Whether it is drawn by the name of the schedule."""
        return is_spread(self.text)

    @property
    def full(self) -> bool:
        """Whether every value matches."""
        return len(self.values) == self.unit.size


class CronFields(NamedTuple):
    """All six fields; the second is `0` where the expression has five."""

    second: CronField
    minute: CronField
    hour: CronField
    day: CronField
    month: CronField
    weekday: CronField

    @property
    def lived(self) -> bool:
        """Whether it is a wildcard job, which follows the wall clock through gaps and repeats."""
        return self.second.starred or self.minute.starred or self.hour.starred


def is_spread(text: str) -> bool:
    """Whether an expression or a field has parts that are drawn by the schedule's name."""
    return _SPREAD.search(text) is not None


def field_texts(expression: str) -> list[str]:
    """The fields of an expression as they are written; macros are expanded."""
    return MACROS.get(expression.lower(), expression).split()


def read_cron(expression: str, name: str) -> CronFields:
    """The fields of an expression without a zone, drawn by the name where they are spread."""
    if len(expression) > LONGEST_EXPRESSION:
        problem = f"it has {len(expression)} characters, {LONGEST_EXPRESSION} are allowed"
        raise InvalidCron(f"{expression[:40]}...", "expression", problem, FORMS)
    texts = field_texts(expression)
    if expression.startswith("@") and expression.lower() not in MACROS:
        raise InvalidCron(expression, "expression", f"{expression!r} is not known", FORMS)
    if len(texts) not in (5, 6):
        raise InvalidCron(expression, "expression", f"it has {len(texts)} fields", FORMS)
    if len(texts) == 5:
        texts.insert(0, "0")
    try:
        pairs = zip(UNITS, texts, strict=True)
        return CronFields(*(_field(unit, text.upper(), name) for unit, text in pairs))
    except _Unreadable as error:
        unit = error.unit
        raise InvalidCron(expression, unit.name, error.problem, unit.allowed) from None


def _field(unit: Unit, text: str, name: str) -> CronField:
    # The expressions of a fleet have few different fields, except those drawn by a name.
    return _FieldReader(unit, name).read(text) if is_spread(text) else _known_field(unit, text)


@lru_cache(maxsize=4096)
def _known_field(unit: Unit, text: str) -> CronField:
    return _FieldReader(unit, "").read(text)


class _Unreadable(Exception):
    """A field that cannot be parsed; the caller adds the expression."""

    def __init__(self, unit: Unit, problem: str) -> None:
        super().__init__(problem)
        self.unit = unit
        self.problem = problem


class _FieldReader:
    """Parses one field."""

    def __init__(self, unit: Unit, name: str) -> None:
        self._unit = unit
        self._name = name

    def read(self, text: str) -> CronField:
        items = tuple(self._item(item) for item in text.split(","))
        if "?" in text and text != "?":
            self._refuse("'?' stands alone")
        spans = (item for item in items if isinstance(item, Span))
        values = {value for span in spans for value in span.values}
        return CronField(self._unit, text, items, tuple(sorted(values)))

    def _refuse(self, problem: str) -> NoReturn:
        raise _Unreadable(self._unit, problem)

    def _item(self, text: str) -> Item:
        special = self._special_day(text) or self._special_weekday(text)
        if special is not None:
            return special
        body, slash, step = text.partition("/")
        span = self._span(body, self._step(text, step) if slash else None)
        if span is None:
            self._refuse(f"{text!r} cannot be read" if text else "an item of the list is empty")
        return span

    def _special_day(self, text: str) -> Item | None:
        if self._unit is not DAY_OF_MONTH:
            return None
        if text == "L":
            return FromEnd(0)
        if text == "LW":
            return NearestWeekday(None)
        if text.startswith("L-"):
            back = self._number(text[2:].removesuffix("W"), 1, 30, "days before the last")
            return NearestWeekday(None, back) if text.endswith("W") else FromEnd(back)
        if text.endswith("W"):
            return NearestWeekday(self._value(text[:-1]))
        return None

    def _special_weekday(self, text: str) -> Item | None:
        if self._unit is not DAY_OF_WEEK:
            return None
        if "#" in text:
            weekday, _, nth = text.partition("#")
            return NthWeekday(self._value(weekday) % 7, self._number(nth, 1, 5, "times a month"))
        if text == "L":
            self._refuse("'L' needs a day before it, such as '5L' for the last Friday")
        if text.endswith("L"):
            return NthWeekday(self._value(text[:-1]) % 7, None)
        return None

    def _span(self, body: str, step: int | None) -> Span | None:
        unit = self._unit
        if body in ("*", "?"):
            return Span(unit, unit.low, unit.high, step or 1)
        if body.startswith("H"):
            return self._drawn(body, step)
        if "~" in body:
            return self._between(body, step)
        if "-" in body:
            first, _, last = body.partition("-")
            return self._range(self._value(first), self._value(last), step or 1)
        if not body:
            return None
        value = self._value(body)
        if step is None:
            return self._range(value, value, 1)
        return Span(unit, value, unit.high, step)

    def _range(self, first: int, last: int, step: int) -> Span:
        if self._unit is DAY_OF_WEEK and first == 7:
            first = 0
            last %= 7
        return Span(self._unit, first, last, step)

    def _drawn(self, body: str, step: int | None) -> Span | None:
        """`H`, `H/n`, `H(a-b)` and `H(a-b)/n`."""
        low, high = self._drawing_limits(step)
        if body != "H":
            limits = _DRAWN_RANGE.fullmatch(body)
            if limits is None:
                return None
            low, high = self._value(limits[1]), self._value(limits[2])
        if low > high:
            self._refuse(f"{body!r} draws from an empty range")
        choices = high - low + 1
        first = low + self._draw(min(step or choices, choices))
        return Span(self._unit, first, first if step is None else high, step or 1)

    def _between(self, body: str, step: int | None) -> Span | None:
        """`a~b`; either may be left out."""
        if step is not None:
            return None
        least, greatest = self._drawing_limits(step)
        first, _, last = body.partition("~")
        low = self._value(first) if first else least
        high = self._value(last) if last else greatest
        if low > high:
            self._refuse(f"{body!r} draws from an empty range")
        value = low + self._draw(high - low + 1)
        return self._range(value, value, 1)

    def _drawing_limits(self, step: int | None) -> tuple[int, int]:
        unit = self._unit
        if unit is DAY_OF_MONTH and step is None:
            return unit.low, SAFE_DAY
        return unit.low, unit.low + unit.size - 1

    def _draw(self, choices: int) -> int:
        return drawn(f"{self._name}\0{self._unit.name}", choices)

    def _step(self, text: str, step: str) -> int:
        if not step.isascii() or not step.isdigit():
            self._refuse(f"the step of {text!r} is not a number")
        number = int(step)
        if number < 1:
            self._refuse(f"step '{step}' is out of range 1-{self._unit.high - self._unit.low}")
        if number > self._unit.size:
            self._refuse(long_step_problem(self._unit, text.partition("/")[0], number))
        return number

    def _value(self, text: str) -> int:
        if text in self._unit.words:
            return self._unit.words.index(text) + self._unit.low
        return self._number(text, self._unit.low, self._unit.high)

    def _number(self, text: str, low: int, high: int, what: str = "") -> int:
        if not text.isascii() or not text.isdigit():
            self._refuse(f"{text!r} is not a value" if text else "a value is missing")
        number = int(text)
        if not low <= number <= high:
            within = f" of {what} {low}-{high}" if what else ""
            self._refuse(f"'{text}' is out of range{within}")
        return number
