"""Instants and durations as the file has them: whole microseconds, since 1970 in UTC."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.time.instant import EPOCH

DAY = 86_400_000_000
SECOND = 1_000_000


def to_microseconds(length: timedelta) -> int:
    """A duration; exact, where floating point would round."""
    return length.days * DAY + length.seconds * SECOND + length.microseconds


def to_duration(microseconds: int) -> timedelta:
    return timedelta(microseconds=microseconds)


def to_number(instant: datetime) -> int:
    length = instant - EPOCH
    return length.days * DAY + length.seconds * SECOND + length.microseconds


def to_instant(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def to_number_or_none(instant: datetime | None) -> int | None:
    return None if instant is None else to_number(instant)


def to_instant_or_none(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else EPOCH + timedelta(microseconds=microseconds)
