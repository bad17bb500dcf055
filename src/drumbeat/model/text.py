"""Words and phrases for descriptions in English."""

from __future__ import annotations

from collections.abc import Sequence

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(count: int, noun: str) -> str:
    """`1 day`, `2 days`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def each(count: int, noun: str) -> str:
    """`every day`, `every 2 days`."""
    return f"every {noun}" if count == 1 else f"every {count} {noun}s"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `11th`."""
    tail = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}th" if 10 < number % 100 < 14 else f"{number}{tail}"


def capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def uncapitalised(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def last_line(text: str) -> str:
    """The last line of a traceback, which says what went wrong."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
