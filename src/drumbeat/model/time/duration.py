"""Durations as people write them: `15m`, `1h30m`, `2d`, `1.5h`, `500ms`, or plain seconds."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TypeAlias

from drumbeat.model.errors import InvalidInput
from drumbeat.model.text import counted

Duration: TypeAlias = float | str | timedelta
"""A length of time: seconds, or as in "15s"."""
LONGEST_TEXT = 64
FORMS = "forms such as '15s', '1h30m', '2d', '1.5h', '500ms', or a number of seconds"

_UNITS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
    "us": timedelta(microseconds=1),
}
_NAMES = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
    ("millisecond", timedelta(milliseconds=1)),
    ("microsecond", timedelta(microseconds=1)),
)
_PART = re.compile(r"(?<![0-9])([0-9]+(?:\.[0-9]+)?) *(ms|us|w|d|h|m|s)", re.IGNORECASE)
_WHOLE = re.compile(rf"(?: *{_PART.pattern})+ *", re.IGNORECASE)
_NUMBER = re.compile(r" *[0-9]+(?:\.[0-9]+)? *")


def parse_duration(value: str | float | timedelta) -> timedelta:
    """A duration of zero or more, else `InvalidInput`; a plain number means seconds."""
    try:
        length = value if isinstance(value, timedelta) else _read(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise InvalidInput(f"{value!r} is not a duration; allowed: {FORMS}") from error
    if length < timedelta(0):
        raise InvalidInput(f"a duration cannot be negative: {value!r}")
    return length


def seconds_of(value: Duration | None) -> float | None:
    """A time-out in seconds; None: without limit. Numbers are taken as they are."""
    if isinstance(value, str | timedelta):
        return parse_duration(value).total_seconds()
    return value


def _read(value: str | float) -> timedelta:
    if not isinstance(value, str):
        return timedelta(seconds=value)
    if len(value) > LONGEST_TEXT:
        raise ValueError(f"longer than {LONGEST_TEXT} characters")
    if _NUMBER.fullmatch(value):
        return timedelta(seconds=float(value))
    if not _WHOLE.fullmatch(value):
        raise ValueError("not a sequence of numbers with units")
    parts = (_UNITS[unit.lower()] * float(number) for number, unit in _PART.findall(value))
    return sum(parts, timedelta(0))


def describe_duration(length: timedelta) -> str:
    """The duration in words, such as `1 hour 30 minutes`."""
    words: list[str] = []
    for name, unit in _NAMES:
        count, length = divmod(length, unit)
        if count:
            words.append(counted(count, name))
    return " ".join(words) or "0 seconds"
