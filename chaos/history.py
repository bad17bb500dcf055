"""The history of a run: the input of the checks, the figures and the timeline.

Instants in seconds count from the start of the run. Instants of the store are not converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from drumbeat.model.jobs.job import Status


class Kind(StrEnum):
    """The kinds of faults."""

    KILL = "kill"
    """kill -9 of a node."""
    STOP = "stop"
    """An orderly stop of a node."""
    PAUSE = "pause"
    """SIGSTOP, and SIGCONT later."""
    PARTITION = "partition"
    """No message passes from a node to a server, or back, or both."""
    SLOW = "slow"
    """Messages between a node and its servers are delayed."""
    SKEW = "skew"
    """The wall clock of a node jumps, and later jumps back."""
    BLOCK = "block"
    """A handler blocks the event loop of its node."""
    RESTART = "restart"
    """kill -9 of a server, which restarts with its data."""
    EMPTY = "empty"
    """kill -9 of a coordinator, which restarts without data."""
    DISK_FULL = "disk full"


SERVER_FAULTS = frozenset({Kind.RESTART, Kind.EMPTY, Kind.DISK_FULL})


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that was injected into a node or a server."""

    kind: Kind
    target: str
    since: float
    until: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Life:
    """The life of a process, from when it was ready to its end."""

    node: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Term:
    """One term, from the first record of its leader to the last."""

    node: str
    epoch: int
    since: float
    until: float
    reason: str = ""
    """Why it ended, as its node recorded it; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A node learned that the store accepted its epoch."""

    identity: str
    epoch: int
    at: float


@dataclass(frozen=True, slots=True)
class Fire:
    """A row of the ledger: a tick that fired."""

    schedule: str
    tick_at: datetime
    recorded_at: datetime
    leader: str
    epoch: int
    job_id: int

    @property
    def lateness(self) -> float:
        """Seconds from the tick to its record in the ledger."""
        return (self.recorded_at - self.tick_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a handler, of a schedule or of a numbered job."""

    node: str
    at: float
    what: str
    tick_at: datetime | None
    job_id: int
    fence: int


@dataclass(frozen=True, slots=True)
class Ending:
    """A report of how an attempt ended. Without a status it was rejected, as the hold had ended."""

    node: str
    at: float
    job_id: int
    fence: int
    status: Status | None


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job as stored at the end."""

    id: int
    task: str
    status: Status
    fence: int
    number: int | None = None
    """The number that the client gave it."""
    schedule: str | None = None
    tick_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Submissions:
    """The outcome of the submissions, as the client knows it."""

    acknowledged: Mapping[int, int] = field(default_factory=dict[int, int])
    """Job ids by number; the store has promised to run them."""
    unsure: Sequence[frozenset[int]] = ()
    """Batches without an answer: each is in the store as a whole or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One run on one pair."""

    pair: str
    seed: int
    ttl: float
    longest_term: float
    """The longest time that the coordinator may keep a dead leader's term."""
    began_at: datetime
    """The wall clock at second 0."""
    seconds: float
    """The length of the run, including the recovery at its end."""
    nodes: Sequence[str]
    servers: Sequence[str]
    due: Mapping[str, Sequence[datetime]]
    ledger: Sequence[Fire]
    """In the order in which they were recorded."""
    lives: Sequence[Life] = ()
    terms: Sequence[Term] = ()
    gains: Sequence[Gain] = ()
    runs: Sequence[Run] = ()
    endings: Sequence[Ending] = ()
    jobs: Sequence[StoredJob] = ()
    submissions: Submissions = field(default_factory=Submissions)
    faults: Sequence[Fault] = ()
    unsettled: Sequence[str] = ()
    """What had not finished long after the healing, as sentences."""
    crashes: Sequence[str] = ()
    """Nodes that ended by themselves, as sentences."""
    candidates: Sequence[str] = ()
    """The nodes that may lead; empty: all of them."""
    forgetful: str | None = None
    """The server that elects leaders and may forget its last writes when it is killed."""
    left_out: Sequence[str] = ()
    """Faults that are impossible on this machine, as sentences."""

    def second(self, instant: datetime) -> float:
        """An instant of the wall clock in seconds of the run."""
        return (instant - self.began_at).total_seconds()
