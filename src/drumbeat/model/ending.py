"""Endings: how an attempt ended, before a rule says what becomes of its job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler returned."""

    result: bytes | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised an error."""

    error: str
    final: bool = False
    """Trying again cannot help, for instance when the arguments do not fit the handler."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The handler took too long, or did not show that it was alive."""

    after: float


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The handler asked to be run again later."""

    delay: timedelta


@dataclass(frozen=True, slots=True)
class Stopped:
    """The job was cancelled, by its handler or by a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The node stops, or it no longer leads: the job goes back unharmed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The node that held the attempt is dead by the store's clock."""

    node: str


Ending: TypeAlias = Returned | Raised | TimedOut | Snoozed | Stopped | GivenBack | Lost
