"""Instants and lengths of time, as the database takes and returns them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drumbeat.model.time.instant import aware
from drumbeat.ports.store import At

SECOND = 1_000_000
MICROSECOND = timedelta(microseconds=1)


def checked(at: At) -> At:
    """The instant in UTC, if one was given; one without a time zone is rejected."""
    return None if at is None else aware("at", at)


def instant_of(seconds: float) -> datetime:
    """The instant so many seconds after 1970 began, to the microsecond."""
    return datetime.fromtimestamp(seconds, UTC)


def to_microseconds(length: timedelta) -> int:
    """The length of time in microseconds, without the rounding of floating point."""
    return length // MICROSECOND
