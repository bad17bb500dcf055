"""Jobs: durable units of work, the attempts at them, and what may be asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from drumbeat.model.errors import InvalidOption
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.retry import DEFAULT_RETRY, Retry

DEFAULT_QUEUE = "default"
LEADER_QUEUE = "@leader"
"""The queue that only the leading node takes from: where `run_on="leader"` jobs go."""
HIGHEST_PRIORITY = 100
LONGEST_DEDUPE = timedelta(days=365)
"""How long a job that is submitted may stand for its dedupe key after its end."""
ARGUMENTS_LIMIT = 256 * 1024
RESULT_LIMIT = 256 * 1024
NO_ARGUMENTS = b"{}"


class Status(StrEnum):
    """Where a job stands."""

    PENDING = "pending"
    """Waits for its time or for its retry."""
    QUEUED = "queued"
    """May run now."""
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether the job is finished."""
        return self in FINAL


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
UNFINISHED = frozenset(Status) - FINAL


class Change(StrEnum):
    """What can happen to a job. `rules.statuses` says which change is legal from which status."""

    PROMOTE = "be promoted"
    CLAIM = "be claimed"
    COMPLETE = "complete"
    RETRY = "wait for a retry"
    SNOOZE = "snooze"
    GIVE_BACK = "be given back"
    FAIL = "fail"
    CANCEL = "be cancelled"
    REOPEN = "be retried by hand"


class OnConflict(StrEnum):
    """What becomes of a job whose limit is reached when its turn comes."""

    WAIT = "wait"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many jobs that share the key run at once, over the whole fleet."""

    key: str
    at_most: int
    on_conflict: OnConflict = OnConflict.WAIT
    """What becomes of a job whose turn comes while the limit is reached."""

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise InvalidOption(f"a limit on {self.key!r} must be at least 1, not {self.at_most}")


@dataclass(frozen=True, slots=True)
class Rate:
    """In any window as long as `per`, at most so many jobs that share the key start.

    The window is half-open, and the store counts over the whole fleet. As many may start at once.
    """

    key: str
    at_most: int
    per: timedelta

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise InvalidOption(f"a rate on {self.key!r} must be at least 1, not {self.at_most}")
        if self.per <= timedelta(0):
            raise InvalidOption(f"a rate's period must be longer than zero, not {self.per}")

    @property
    def spacing(self) -> timedelta:
        """The time between two starts at the full rate."""
        return self.per / self.at_most


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What was asked for. It never changes while the job lives."""

    task: str
    arguments: bytes = NO_ARGUMENTS
    """JSON: an object of the arguments by name."""
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    """0 to 100; a higher one runs first."""
    run_at: datetime | None = None
    """The earliest start. None: `delay` from now, by the store's clock."""
    delay: timedelta = timedelta(0)
    retry: Retry = DEFAULT_RETRY
    timeout: float | None = None
    """Seconds that one attempt may take."""
    dedupe_key: str | None = None
    dedupe_for: timedelta = timedelta(hours=24)
    """How long after its end a job still stands for its dedupe key; submitted: up to 365 days."""
    schedule: str | None = None
    tick_at: datetime | None = None
    limits: tuple[Limit, ...] = ()
    rate: Rate | None = None
    tags: tuple[str, ...] = ()
    trace: str | None = None
    """The W3C `traceparent` of the span that submitted it, if tracing was on."""


def check_dedupe_for(length: timedelta) -> None:
    """Refuse to keep a dedupe key for longer than `LONGEST_DEDUPE`.

    Not done by `JobSpec` itself, so that jobs that are stored already stay readable.
    """
    if length > LONGEST_DEDUPE:
        raise InvalidOption(f"dedupe_for must be at most {LONGEST_DEDUPE.days} days, not {length}")


@dataclass(frozen=True, slots=True)
class Hold:
    """The proof of holding a job: the fence rises at each claim, so an old hold never matches."""

    job_id: JobId
    fence: int

    def __hash__(self) -> int:
        return self.job_id  # holds of one job are few, and hashing is on the hot path


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an attempt has come, in its own words."""

    done: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the store has it."""

    id: JobId
    spec: JobSpec
    status: Status
    run_at: datetime
    created_at: datetime
    attempt: int = 0
    """Attempts counted so far: raised by each claim, before the handler starts."""
    fence: int = 0
    node: NodeId | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result: bytes | None = None
    error: str | None = None
    """Why it failed, was retried or was cancelled, as text."""
    progress: Progress | None = None
    cancel_requested: bool = False

    @property
    def task(self) -> str:
        """The name of the task it runs."""
        return self.spec.task

    @property
    def hold(self) -> Hold:
        """The hold that its last claim gave."""
        return Hold(self.id, self.fence)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a job, as the node that claimed it holds it."""

    hold: Hold
    number: int
    """1 for the first; snoozing and giving back do not raise it."""
    spec: JobSpec
    node: NodeId
    started_at: datetime
    """When it was claimed; its handler may begin a moment later."""
    created_at: datetime

    @property
    def job_id(self) -> JobId:
        """The job that is tried."""
        return self.hold.job_id


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """A past attempt, kept with its job."""

    number: int
    fence: int
    node: NodeId
    started_at: datetime
    ended_at: datetime
    change: Change
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """How an attempt ended, to be applied only while its hold is current."""

    hold: Hold
    change: Change
    """COMPLETE, RETRY, SNOOZE, GIVE_BACK, FAIL or CANCEL."""
    delay: timedelta = timedelta(0)
    """How long a retried or snoozed job waits, counted from the settlement by the store's clock."""
    result: bytes | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Inserted:
    """The job was created."""

    job: Job


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A job already stands for the dedupe key; nothing was created."""

    job: Job


@dataclass(frozen=True, slots=True)
class Settled:
    """The settlement was applied."""

    hold: Hold
    status: Status


@dataclass(frozen=True, slots=True)
class Superseded:
    """The hold was over: someone else has or had the job since. Nothing was changed."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The job was waiting and will not run."""

    job_id: JobId


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The job is running; its node will be told."""

    job_id: JobId


@dataclass(frozen=True, slots=True)
class Reopened:
    """The finished job waits to run again, with its attempts counted anew."""

    job_id: JobId


@dataclass(frozen=True, slots=True)
class TooLate:
    """The job's status does not allow it, or there is no such job. Nothing was changed."""

    job_id: JobId
    status: Status | None


@dataclass(frozen=True, slots=True)
class Ticket:
    """A hint that a job may run now. It may be lost or repeated; the store's claim decides."""

    job_id: JobId
    queue: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker asks for: only tasks that it knows, only queues that it serves."""

    queues: tuple[str, ...]
    tasks: frozenset[str]
    limit: int
    """How many it can start at once."""
    ahead: int = 0
    """How many more it would hold for a moment, of jobs without limits and rate."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a worker got: the verdicts on what it settled, and its next attempts."""

    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Settled | Superseded, ...] = ()
    cancelled: tuple[JobId, ...] = ()
    """Jobs that were cancelled in place of being claimed: their limit was reached."""
    try_at: datetime | None = None
    """When a rate next lets a job start, if one was left waiting for that."""


@dataclass(frozen=True, slots=True)
class Promoted:
    """What became ready: tickets to publish, and when the next pending job is due."""

    tickets: tuple[Ticket, ...] = ()
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are wanted; an empty field does not restrict."""

    statuses: frozenset[Status] = field(default_factory=frozenset[Status])
    task: str | None = None
    queue: str | None = None
    schedule: str | None = None
    tag: str | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
