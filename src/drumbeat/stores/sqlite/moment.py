"""Moments: the instant that a step judges by, in both its forms."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.instant import aware
from drumbeat.ports.clock import Clock
from drumbeat.sqlite.instants import to_number


class Moment:
    """One instant."""

    __slots__ = ("instant", "number")

    def __init__(self, instant: datetime) -> None:
        self.instant = instant
        self.number = to_number(instant)


def moment(clock: Clock, at: datetime | None) -> Moment:
    """The instant that was given, or the clock's."""
    return Moment(clock.now() if at is None else aware("at", at))


def check_at(at: datetime | None) -> None:
    """Refuse an instant without a zone before anything is begun."""
    if at is not None:
        aware("at", at)
