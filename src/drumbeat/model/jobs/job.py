"""Jobs, their attempts, and the requests to a store with their verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Literal, TypeAlias

from drumbeat.model.errors import InvalidOption
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.expiry import EXPIRED, Expires, expiry
from drumbeat.model.jobs.retry import DEFAULT_RETRY, Retry

DEFAULT_QUEUE = "default"
LEADER_QUEUE = "@leader"
"""The queue of `run_on="leader"` jobs, which only the leader takes."""
HIGHEST_PRIORITY = 100
ARGUMENTS_LIMIT = RESULT_LIMIT = 256 * 1024
NO_ARGUMENTS = b"{}"


class Status(StrEnum):
    """The status of a job."""

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
        return self in FINAL


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
UNFINISHED = frozenset(Status) - FINAL


class Change(StrEnum):
    """What can happen to a job. `rules.jobs.transitions` says which are legal."""

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
    """What happens to a job whose limit is reached when it would be claimed."""

    WAIT = "wait"
    SKIP = "skip"
    """It ends as cancelled, quietly: nobody misses it."""
    CANCEL = "cancel"
    """It ends as cancelled, with a warning."""


OnConflictName: TypeAlias = OnConflict | Literal["wait", "skip", "cancel"]
SKIPPED = "skipped because its limit was reached"
"""The error of a job that `OnConflict.SKIP` has ended. Lists filter by it."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `at_most` jobs with the key run at once in the whole fleet."""

    key: str
    at_most: int
    on_conflict: OnConflict = OnConflict.WAIT

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise InvalidOption(f"a limit on {self.key!r} must be at least 1, not {self.at_most}")


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `at_most` jobs with the key start in any window of length `per`.

    The window is half-open, and the store counts for the whole fleet. All may start at once.
    """

    key: str
    at_most: int
    per: timedelta

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise InvalidOption(f"a rate on {self.key!r} must be at least 1, not {self.at_most}")
        if self.per <= timedelta(0):
            raise InvalidOption(f"a rate's period must be longer than zero, not {self.per}")


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What was submitted. It never changes."""

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
    """How long a job keeps its dedupe key after its end; at most 365 days when submitted."""
    dedupe_scope: str | None = None
    """Jobs of one scope share their dedupe keys. None: the jobs of this task."""
    schedule: str | None = None
    tick_at: datetime | None = None
    limits: tuple[Limit, ...] = ()
    rate: Rate | None = None
    tags: tuple[str, ...] = ()
    expires: Expires | None = None
    """Until when an attempt may start; None: always. A job that a person retries loses it."""
    retention: timedelta | None = None
    """How long it is kept after its end; None: as long as the app says."""
    trace: str | None = None
    """The W3C `traceparent` of the span that submitted it, if tracing is enabled."""

    def expires_at(self, created_at: datetime) -> datetime | None:
        """The instant from which no attempt of a job that was created then may start."""
        if self.expires is None:
            return None
        return expiry(self.expires, self.run_at or created_at + self.delay)

    @property
    def dedupe_identity(self) -> tuple[str, str] | None:
        """The scope and the dedupe key, which only one job at a time has; None: no key.

        The keys of a task never collide with those of a named scope.
        """
        if self.dedupe_key is None:
            return None
        scope = self.dedupe_scope
        return f"task:{self.task}" if scope is None else f"scope:{scope}", self.dedupe_key

    @property
    def dedupe_guard(self) -> bytes | None:
        """A digest of the dedupe identity, for stores that search by it: always 16 bytes."""
        identity = self.dedupe_identity
        if identity is None:
            return None
        scope, key = (text.encode(errors="surrogatepass") for text in identity)
        return blake2b(b"%d:%s%s" % (len(scope), scope, key), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Hold:
    """Identifies a claim: the fence rises with each claim, so an old hold never matches."""

    job_id: JobId
    fence: int

    def __hash__(self) -> int:
        return self.job_id  # holds of one job are few, and hashing is on the hot path


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress that a handler has reported."""

    done: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A job in the store."""

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
        return self.spec.task

    @property
    def hold(self) -> Hold:
        return Hold(self.id, self.fence)

    @property
    def expires_at(self) -> datetime | None:
        """The instant from which no attempt of it may start. None: it does not expire."""
        return self.spec.expires_at(self.created_at)

    @property
    def has_expired(self) -> bool:
        """Whether it ended because it had expired."""
        return self.status is Status.CANCELLED and self.error == EXPIRED

    @property
    def was_skipped(self) -> bool:
        """Whether `on_conflict="skip"` of a limit has ended it."""
        return self.status is Status.CANCELLED and self.error == SKIPPED


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claimed job on the node that holds it."""

    hold: Hold
    number: int
    """1 for the first; snoozed attempts and those given back do not count."""
    spec: JobSpec
    node: NodeId
    started_at: datetime
    """When it was claimed; its handler may start a moment later."""
    created_at: datetime

    @property
    def job_id(self) -> JobId:
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
    """Another job has the dedupe key; nothing was created."""

    job: Job


@dataclass(frozen=True, slots=True)
class Settled:
    """The settlement was applied."""

    hold: Hold
    status: Status


@dataclass(frozen=True, slots=True)
class Superseded:
    """The hold was over, since the job was claimed or closed by others. Nothing was changed."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The job was waiting and will not run."""

    job_id: JobId


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The job is running; its node learns it with its next heartbeat."""

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
    priority: int = 0
    """As far as the publisher knows it. The store knows it, and orders the claims."""
    delivery: str = field(default="", compare=False)
    """How the queue recognises this delivery; empty before it was received."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker asks for: the tasks that it knows and the queues that it serves."""

    queues: tuple[str, ...]
    tasks: frozenset[str]
    limit: int
    """How many it can start at once."""
    ahead: int = 0
    """How many more jobs, without limits or a rate, it may hold for a moment."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of `take`: the next attempts, and the verdicts on the settlements."""

    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Settled | Superseded, ...] = ()
    cancelled: tuple[JobId, ...] = ()
    """Jobs that were cancelled or skipped instead of claimed, because their limit was reached."""
    try_at: datetime | None = None
    """When a rate next allows a start, if a job waits for that; or when to ask again."""
    expired: tuple[JobId, ...] = ()
    """Jobs that ended instead of being claimed, because they had expired."""


@dataclass(frozen=True, slots=True)
class Promoted:
    """Tickets of jobs that became ready, and when the next pending job is due."""

    tickets: tuple[Ticket, ...] = ()
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExpiredJobs:
    """Jobs that ended because they had expired, and when the next waiting job expires."""

    job_ids: tuple[JobId, ...] = ()
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
    expired: bool = False
    """Only jobs that ended because they had expired."""
    skipped: bool = False
    """Only jobs that `on_conflict="skip"` of a limit has ended."""
