"""Events of jobs and their attempts."""

from __future__ import annotations

from drumbeat.model.events.event import Event
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.ending import Ending, Raised, TimedOut
from drumbeat.model.jobs.job import Attempt, Hold, Job, Settlement, Status


class JobSubmitted(Event):
    """A job was created, or another job already has its dedupe key."""

    job: Job
    duplicate: bool


class AttemptStarted(Event):
    """A handler is about to run."""

    attempt: Attempt
    leading: int | None = None
    """The epoch of this node, if it leads."""


class AttemptCompleted(Event):
    """A handler has returned; the attempt is not settled yet."""

    attempt: Attempt
    seconds: float


class AttemptEnded(Event):
    """An attempt has ended in another way; the settlement is not written yet."""

    attempt: Attempt
    ending: Ending
    settlement: Settlement
    seconds: float

    @property
    def exception(self) -> BaseException | None:
        """What the handler raised, or a `TimeoutError` with where it was; None: it did not fail.

        None too if the exception was raised in another process and cannot be sent here.
        """
        return self.ending.exception if isinstance(self.ending, Raised | TimedOut) else None


class JobSettled(Event):
    """The settlement of an attempt was written."""

    settlement: Settlement
    status: Status


class AttemptSuperseded(Event):
    """A late settlement was refused, because the hold was over. Nothing was changed."""

    hold: Hold


class AttemptLost(Event):
    """The node that held the attempt is dead; the job was retried, or failed for good."""

    attempt: Attempt
    status: Status


class AttemptOverran(Event):
    """A handler in a thread goes on although its attempt is over; its slot stays occupied."""

    attempt: Attempt


class ResultDropped(Event):
    """The job completed, but its result could not be stored."""

    attempt: Attempt
    why: str


class JobConflicted(Event):
    """A job was cancelled or skipped instead of run, because its limit was reached."""

    job_id: JobId


class JobExcluded(Event):
    """Follows `JobConflicted` with the cancelled job, and the names of its limits."""

    job: Job
    name: str


class JobSkipped(Event):
    """Follows `JobConflicted` with the skipped job, and the names of its limits."""

    job: Job
    name: str


class JobsExpired(Event):
    """Jobs ended because they had expired: the leader found them, or a claim of this node."""

    job_ids: tuple[JobId, ...]


class JobExpired(Event):
    """Follows `JobsExpired`, for each job."""

    job: Job


class TicketsRepublished(Event):
    """Jobs were queued for so long that the leader published their tickets again."""

    count: int


class TaskUnknown(Event):
    """Jobs wait for a node that knows their task; this node does not."""

    task: str
