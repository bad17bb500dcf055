"""Endings: how an attempt ended. `rules.jobs.retry_decision` decides what follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class RetryAnswer:
    """What the task's own code says about a retry."""

    again: bool = True
    delay: timedelta | None = None
    """How long to wait for it; None: as the job says."""
    fault: str = ""
    """Why the code could not say how long; empty: it could, or was not asked."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler returned."""

    result: bytes | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised an error."""

    error: str
    final: bool = False
    """A retry cannot help, for instance if the arguments do not fit the handler."""
    exception: BaseException | None = field(default=None, compare=False, repr=False)
    """The error itself; None if it was raised in another process and could not be sent here."""
    retry: RetryAnswer | None = None
    """None: the job's own retry decides alone."""


class RemoteTraceback(Exception):
    """The traceback of an error that was raised in another process, as text."""

    def __str__(self) -> str:
        return f"\n{super().__str__()}"


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The handler exceeded its time-out, or its heartbeat was missing."""

    after: float
    exception: TimeoutError | None = field(default=None, compare=False, repr=False)
    """Its cause shows where the handler was; None if that is not known, as for a thread."""
    retry: RetryAnswer | None = None
    """None: the job's own retry decides alone."""


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The handler asked to run again later."""

    delay: timedelta


@dataclass(frozen=True, slots=True)
class Stopped:
    """The job was cancelled, by its handler or by a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The node stops or no longer leads: the job is queued again; the attempt does not count."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The node that held the attempt is dead by the store's clock."""

    node: str


Ending: TypeAlias = Returned | Raised | TimedOut | Snoozed | Stopped | GivenBack | Lost
