"""The history of a day: everything that the checks, the figures and the picture are made from.

Instants in seconds count from the beginning of the day. What a store says stays as it said it.
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
    """Nothing gets from a node to a server, or back, or either."""
    SLOW = "slow"
    """What passes between a node and its servers takes long."""
    SKEW = "skew"
    """The wall clock of a node jumps, and jumps back."""
    BLOCK = "block"
    """A handler holds the event loop of its node up."""
    RESTART = "restart"
    """kill -9 of a server; it comes back with what it knew."""
    EMPTY = "empty"
    """kill -9 of a coordinator; it comes back and knows nothing."""
    DISK_FULL = "disk full"


SERVER_FAULTS = frozenset({Kind.RESTART, Kind.EMPTY, Kind.DISK_FULL})


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that was done to one node or server."""

    kind: Kind
    target: str
    since: float
    until: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Life:
    """A process of a node, from when it was ready to its end."""

    node: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Term:
    """One term, from the first look that found its node leading to the last."""

    node: str
    epoch: int
    since: float
    until: float
    reason: str = ""
    """Why it ended, in the words of its node; nothing if that could not say."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A node was told that its epoch is accepted."""

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
        """Seconds from its time to the ledger."""
        return (self.recorded_at - self.tick_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Run:
    """A handler ran: a beat of a schedule, or a numbered job."""

    node: str
    at: float
    what: str
    tick_at: datetime | None
    job_id: int
    fence: int


@dataclass(frozen=True, slots=True)
class Ending:
    """A node reported how an attempt ended. No status: it was refused, the hold was over."""

    node: str
    at: float
    job_id: int
    fence: int
    status: Status | None


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job as the store has it at the end."""

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
    """What the client knows of the jobs that it submitted."""

    acknowledged: Mapping[int, int] = field(default_factory=dict[int, int])
    """Job ids by number; the store has promised to run them."""
    unsure: Sequence[frozenset[int]] = ()
    """Batches that were not answered: each is in the store as a whole, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One day on one pair."""

    pair: str
    seed: int
    ttl: float
    longest_term: float
    """How long its coordinator may keep a dead leader's term."""
    began_at: datetime
    """The wall clock at second 0."""
    seconds: float
    """How long the day was, the healing at its end included."""
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
    """What had not come to its end long after everything was healed, in words."""
    crashes: Sequence[str] = ()
    """Nodes that ended by themselves, in words."""
    forgetful: str | None = None
    """The server that elects leaders and may forget its last writes when it is killed."""
    left_out: Sequence[str] = ()
    """Faults that this machine cannot do, in words."""

    def second(self, instant: datetime) -> float:
        """An instant of the wall clock in seconds of the day."""
        return (instant - self.began_at).total_seconds()
