"""Instants and durations as the file has them: whole microseconds, since 1970 in UTC."""

from __future__ import annotations

from datetime import datetime, timedelta

from drumbeat.model.time.instant import EPOCH, aware
from drumbeat.ports.clock import Clock

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


class Moment:
    """The instant that a step judges by, as a value and as a number."""

    __slots__ = ("instant", "number")

    def __init__(self, instant: datetime) -> None:
        self.instant = instant
        self.number = to_number(instant)


def moment(clock: Clock, at: datetime | None) -> Moment:
    """The instant that was given, or the clock's."""
    return Moment(clock.now() if at is None else aware("at", at))
