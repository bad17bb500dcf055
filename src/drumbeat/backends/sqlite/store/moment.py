"""Moment: the instant that a step judges by, as a value and as a number."""

from __future__ import annotations

from datetime import datetime

from drumbeat.backends.sqlite.connection.times import to_number
from drumbeat.model.time.instant import aware
from drumbeat.ports.clock import Clock


class Moment:
    """One instant."""

    __slots__ = ("instant", "number")

    def __init__(self, instant: datetime) -> None:
        self.instant = instant
        self.number = to_number(instant)


def moment(clock: Clock, at: datetime | None) -> Moment:
    """The instant that was given, or the clock's."""
    return Moment(clock.now() if at is None else aware("at", at))
