"""Times of day as people write them: `02:30`, `02:30:15`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import time

from drumbeat.model.errors import InvalidTrigger


def read_times(times: str | time | Iterable[str | time]) -> tuple[time, ...]:
    """Times of day in order, each once; given as `time` or text such as `02:30` or `02:30:15`."""
    several = [times] if isinstance(times, str | time) else list(times)
    if not several:
        raise InvalidTrigger("times: at least one time of day is needed")
    return tuple(sorted({read_time(value) for value in several}))


def read_time(value: str | time) -> time:
    """A time of day in whole seconds; raises `InvalidTrigger` for anything else."""
    try:
        parsed = time.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        raise InvalidTrigger(
            f"times: {value!r} is not a time of day; use a form such as '02:30' or '02:30:15'"
        ) from None
    if parsed.tzinfo is not None:
        raise InvalidTrigger(f"times: {value!s} has its own zone; give the zone as tz=")
    if parsed.microsecond:
        raise InvalidTrigger(f"times: {value!s} has a fraction of a second; use whole seconds")
    return parsed.replace(fold=0)


def second_of_day(moment: time) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def describe_time(moment: time) -> str:
    """`02:30`, or `02:30:15` if it has seconds."""
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
