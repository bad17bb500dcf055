"""Events: what happened, told to listeners after it happened.

Nobody in the engine waits for a listener, and a listener that fails stops nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.model.ending import Ending
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import Attempt, Hold, Job, Settlement, Status
from drumbeat.model.part import Asked, Part
from drumbeat.model.plan import SkipReason


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on this node."""


@dataclass(frozen=True, slots=True)
class NodeStarted(Event):
    """The node runs all its services."""

    node: NodeId
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeDraining(Event):
    """The node takes no more work and finishes what it has."""

    node: NodeId
    reason: str


@dataclass(frozen=True, slots=True)
class NodeStopped(Event):
    """The node has stopped."""

    node: NodeId


@dataclass(frozen=True, slots=True)
class ServiceFailed(Event):
    """One pass of a service failed; the service goes on after a pause."""

    service: str
    error: BaseException
    failures: int
    """Passes that failed in a row."""
    backend: Part | None = None
    """The backend that the service asks; None: it is not known."""


@dataclass(frozen=True, slots=True)
class ServiceRecovered(Event):
    """A service that had failed passes again, or has ended."""

    service: str
    failures: int
    """Passes that had failed in a row."""


@dataclass(frozen=True, slots=True)
class ListenerFailed(Event):
    """A listener raised an error, which changed nothing."""

    event: Event
    error: BaseException


@dataclass(frozen=True, slots=True)
class ScheduleDeclared(Event):
    """A schedule declared in code is known to the store."""

    schedule: str
    task: str
    created: bool


@dataclass(frozen=True, slots=True)
class ScheduleDrifted(Event):
    """The stored schedule differs from the code, because a person edited it. It was left alone."""

    schedule: str


@dataclass(frozen=True, slots=True)
class ScheduleChangeWaits(Event):
    """Code changed a schedule that has ticks due: the leader handles those first.

    The stored definition stays until then, and `ScheduleDeclared` follows.
    """

    schedule: str
    task: str


@dataclass(frozen=True, slots=True)
class TicksDropped(Event):
    """A change or removal of a schedule dropped ticks that were due and not yet taken up.

    The ledger has them as skipped, for the reason `overridden`.
    """

    schedule: str
    tick_at: datetime
    through: datetime
    count: int
    """Above 50,000 it means "at least"."""


@dataclass(frozen=True, slots=True)
class SchedulesUnknown(Event):
    """The store has schedules that code declared and whose task this node does not know.

    As after a rollback. Told when a node has started, and whenever the number changes.
    """

    schedules: tuple[str, ...]
    """The first of them by name, at most 20."""
    count: int


@dataclass(frozen=True, slots=True)
class ScheduleChanged(Event):
    """A schedule was created, replaced, paused, resumed, skipped once or removed."""

    schedule: str
    change: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanFailed(Event):
    """A schedule's ticks could not be planned; the other schedules went on."""

    schedule: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class LeadershipGained(Event):
    """This node leads, and the store has accepted its epoch."""

    election: str
    node: NodeId
    epoch: int


@dataclass(frozen=True, slots=True)
class LeadershipLost(Event):
    """This node no longer leads."""

    election: str
    node: NodeId
    epoch: int
    reason: str
    graceful: bool = False
    """It gave its term up of its own will."""


@dataclass(frozen=True, slots=True)
class StoreFailed(Event):
    """The store did not answer a part of this node. All parts share one count."""

    error: BaseException
    since: datetime
    """When the first of the failures in a row was."""
    failures: int


@dataclass(frozen=True, slots=True)
class StoreAnswered(Event):
    """The store answers every part of this node again."""

    since: datetime
    """When it had stopped to."""
    failures: int


@dataclass(frozen=True, slots=True)
class StoreAwaited(Event):
    """The store did not answer while this node started; it is asked again after a pause."""

    store: str
    """Its address, with the password masked."""
    error: BaseException
    failures: int
    """How many tries have failed."""
    next_try: float
    """Seconds until the next try."""
    left: float
    """Seconds after which the start is given up."""


@dataclass(frozen=True, slots=True)
class ElectionOff(Event):
    """This node starts without an election: it takes itself for the leader, as every other does."""

    node: NodeId
    runs_everywhere: bool = True
    """Whether each instance has a store of its own, so that every instance runs every tick."""
    local_locks: bool = True
    """Whether locks and shared configuration are known to this process only."""


@dataclass(frozen=True, slots=True)
class CoordinatorFailed(Event):
    """The coordinator did not answer, or answered with an error."""

    election: str
    error: BaseException
    since: datetime | None = None
    """When the first of the failures in a row was."""
    failures: int = 1
    """How many there were in a row."""
    asked: Asked = "coordinator"
    """Who was asked for the leadership; of a store, `StoreFailed` tells as well."""


@dataclass(frozen=True, slots=True)
class CoordinatorAnswered(Event):
    """The coordinator answers again."""

    election: str
    since: datetime
    """When it had stopped to."""
    failures: int
    asked: Asked = "coordinator"
    """Who was asked for the leadership."""


@dataclass(frozen=True, slots=True)
class LabelShared(Event):
    """Another live node has the same label. That works; people cannot tell the two apart."""

    node: NodeId
    other: NodeId


@dataclass(frozen=True, slots=True)
class ClockSkewed(Event):
    """This node's clock and the store's are too far apart to lead by."""

    node: NodeId
    skew: timedelta
    """How far this node is ahead of the store."""


@dataclass(frozen=True, slots=True)
class TickFired(Event):
    """A tick submitted its job."""

    schedule: str
    tick_at: datetime
    job_id: JobId
    epoch: int
    lateness: timedelta


@dataclass(frozen=True, slots=True)
class TickSkipped(Event):
    """A tick, or a run of ticks, did not fire."""

    schedule: str
    tick_at: datetime
    through: datetime
    count: int
    reason: SkipReason
    epoch: int


@dataclass(frozen=True, slots=True)
class TickPassed(Event):
    """A tick, or a run of ticks, was left to the instance that leads. In-process mode only."""

    schedule: str
    task: str
    tick_at: datetime
    through: datetime
    count: int


@dataclass(frozen=True, slots=True)
class TickRaced(Event):
    """A schedule had changed while its ticks were planned; they are planned again."""

    schedule: str


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


@dataclass(frozen=True, slots=True)
class LockFailed(Event):
    """A lock was held by someone else, or was lost while it was held."""

    name: str
    error: BaseException
