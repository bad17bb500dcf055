"""The six kinds of field in a cron expression, and the steps that make sense in each."""

from __future__ import annotations

from typing import NamedTuple

from drumbeat.model.errors import InvalidCron
from drumbeat.model.text import MONTHS
from drumbeat.model.time.weekday import Weekday


class Unit(NamedTuple):
    """One kind of field: its name, its least and greatest value, its size, and its words."""

    name: str
    low: int
    high: int
    size: int
    words: tuple[str, ...] = ()
    special: str = ""
    suffix: str = ""
    """The unit of a duration, such as `m`, if there is one."""

    @property
    def allowed(self) -> str:
        names = f", {self.words[0]}-{self.words[-1]}" if self.words else ""
        return f"{self.low}-{self.high}{names}, * ? , - / ~ H{self.special}"


SECOND = Unit("second", 0, 59, 60, suffix="s")
MINUTE = Unit("minute", 0, 59, 60, suffix="m")
HOUR = Unit("hour", 0, 23, 24, suffix="h")
DAY_OF_MONTH = Unit("day of month", 1, 31, 31, special=" L L-n LW L-nW nW", suffix="d")
MONTH = Unit("month", 1, 12, 12, tuple(month[:3].upper() for month in MONTHS))
DAY_OF_WEEK = Unit(
    "day of week", 0, 7, 7, tuple(day.name[:3] for day in Weekday), " nL n#k", suffix="d"
)
UNITS = (SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)


def long_step_problem(unit: Unit, body: str, step: int) -> str:
    """Why a step that exceeds the field is a mistake, and what to write instead."""
    if body[:1] in ("*", "?"):
        single = str(unit.low)
    else:
        single = body if body.startswith("H") else body.partition("-")[0]
    interval = f", or '@every {step}{unit.suffix}' for an interval" if unit.suffix else ""
    return (
        f"step '{step}' is larger than the range {unit.low}-{unit.high}, so it matches one value "
        f"at most; write '{single}' for that value{interval}"
    )


def refuse_long_steps(expression: str, texts: list[str]) -> None:
    """Raise `InvalidCron` for a step that exceeds its field, such as `*/60`.

    Vixie cron accepts such a step and matches one value, which is rarely what was meant. Only new
    expressions are refused: a schedule that was stored before must stay readable. `*/7` as day of
    week is allowed, because that field ends at 7; `1-7 * */7` is a common way to write the first
    Sunday of the month.
    """
    for unit, text in zip(UNITS[-len(texts) :], texts, strict=True):
        for item in text.upper().split(","):
            body, _, step = item.partition("/")
            if step.isdecimal() and int(step) > unit.high - unit.low:
                problem = long_step_problem(unit, body, int(step))
                raise InvalidCron(expression, unit.name, problem, unit.allowed)
