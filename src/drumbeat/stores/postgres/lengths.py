"""Lengths of time as the database has them: whole microseconds."""

from __future__ import annotations

from datetime import timedelta

DAY = 86_400_000_000
SECOND = 1_000_000


def to_microseconds(length: timedelta) -> int:
    """A length of time; exact, where floating point would round."""
    return length.days * DAY + length.seconds * SECOND + length.microseconds


def to_length(microseconds: int) -> timedelta:
    """The length of time that was written."""
    return timedelta(microseconds=microseconds)
