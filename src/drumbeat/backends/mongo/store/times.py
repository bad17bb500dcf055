"""Instants as documents have them: whole microseconds since 1970, since BSON dates are coarser."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.time.instant import EPOCH, MICROSECOND, aware

MICROSECONDS = 1_000_000
"""In a second."""


def to_number(instant: datetime) -> int:
    return (instant - EPOCH) // MICROSECOND


def to_number_or_none(instant: datetime | None) -> int | None:
    return None if instant is None else to_number(instant)


def given(field: str, instant: datetime) -> int:
    """The number of an instant that a caller gave."""
    return to_number(aware(field, instant))


def to_instant(number: int) -> datetime:
    return EPOCH + number * MICROSECOND


def to_instant_or_none(number: int | None) -> datetime | None:
    return None if number is None else to_instant(number)


def length(delta: timedelta) -> int:
    return delta // MICROSECOND


def to_length(number: int) -> timedelta:
    return number * MICROSECOND
