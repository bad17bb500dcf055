"""Events of jobs and their attempts."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.model.ending import Ending
from drumbeat.model.events.event import Event
from drumbeat.model.ids import JobId
from drumbeat.model.job import Attempt, Hold, Job, Settlement, Status


@dataclass(frozen=True, slots=True)
class JobSubmitted(Event):
    """A job was created, or an existing one stood for it."""

    job: Job
    duplicate: bool


@dataclass(frozen=True, slots=True)
class AttemptStarted(Event):
    """A handler is about to run."""

    attempt: Attempt
    leading: int | None = None
    """The epoch of this node, if it leads."""


@dataclass(frozen=True, slots=True)
class AttemptCompleted(Event):
    """A handler has returned; the store is about to be told."""

    attempt: Attempt
    seconds: float


@dataclass(frozen=True, slots=True)
class AttemptEnded(Event):
    """A handler has ended in another way; this is how, and what is asked of the store."""

    attempt: Attempt
    ending: Ending
    settlement: Settlement
    seconds: float


@dataclass(frozen=True, slots=True)
class JobSettled(Event):
    """The store took the ending of an attempt over."""

    settlement: Settlement
    status: Status


@dataclass(frozen=True, slots=True)
class AttemptSuperseded(Event):
    """A late ending was refused: the hold was over. Nothing was changed."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class AttemptLost(Event):
    """The node that held the attempt is dead; the job was retried, or failed for good."""

    attempt: Attempt
    status: Status


@dataclass(frozen=True, slots=True)
class AttemptOverran(Event):
    """A handler in a thread goes on although its attempt is over; its slot stays taken."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class ResultDropped(Event):
    """The job completed, but its result could not be stored."""

    attempt: Attempt
    why: str


@dataclass(frozen=True, slots=True)
class JobConflicted(Event):
    """A job was cancelled in place of being run, because its limit was reached."""

    job_id: JobId


@dataclass(frozen=True, slots=True)
class JobExcluded(Event):
    """The same, once the job was looked up: which one it is, and the name that it found taken."""

    job: Job
    name: str


@dataclass(frozen=True, slots=True)
class TaskUnknown(Event):
    """Jobs of a task that this node does not know are waiting for one that does."""

    task: str
