"""The history of a simulated world, in true time, append-only.

Checkers are pure functions over it and over the final content of the store. No simulated code can
see it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from drumbeat.model.fleet.lease import Lease
from drumbeat.model.jobs.job import Hold, Job
from drumbeat.model.schedules.plan import TickRecord
from drumbeat.model.schedules.schedule import StoredSchedule

StoreKind: TypeAlias = Literal["memory", "sqlite"]
"""The store and coordinator backend of a world."""


@dataclass(frozen=True, slots=True)
class ExecutedRequest:
    """A request that a server executed. Its answer may never have arrived."""

    at: float
    """True seconds since the start."""
    server_elapsed: float
    """The same by the server's clock."""
    by: str
    """The process that sent it, such as n1.2: the second start of node n1."""
    server: str
    call: str
    arguments: tuple[object, ...]
    answer: object
    error: Exception | None
    sender_alive: bool
    """Whether the sending process was still alive when it was executed."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A process began or continued to believe that it leads."""

    at: float
    by: str
    lease: Lease
    until: float
    """In true time, unless something ends it earlier."""
    others: tuple[str, ...]
    """The processes that also believed it at that moment."""


@dataclass(frozen=True, slots=True)
class HandlerStep:
    """A handler began or ended."""

    at: float
    by: str
    hold: Hold
    what: str
    """`started`, `returned`, `raised`, or `stopped` if it was cancelled. A handler that ended
    because its node stops `gave up`, perhaps with an error, or has `finished` all the same."""
    payload: object = None
    rivals: tuple[str, ...] = ()
    """Processes, neither paused nor dead, in which a handler of the same job was still running."""


@dataclass(frozen=True, slots=True)
class LockUse:
    """A process worked under a lock that it trusted."""

    at: float
    by: str
    name: str
    token: int
    others: tuple[str, ...]
    """The processes that also trusted the same lock at that moment."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A client received the confirmation of an operation."""

    at: float
    what: str
    """`submitted`, or the name of an edit."""
    subject: object


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of the transcript: a fault, a start, an event of a node."""

    at: float
    by: str
    kind: str
    text: str


@dataclass(slots=True)
class Dump:
    """The content of a store."""

    schedules: Sequence[StoredSchedule] = ()
    ledger: Mapping[str, Sequence[TickRecord]] = field(
        default_factory=dict[str, Sequence[TickRecord]]
    )
    jobs: Sequence[Job] = ()
    fires: Mapping[str, Sequence[tuple[str, datetime, datetime]]] = field(
        default_factory=dict[str, Sequence[tuple[str, datetime, datetime]]]
    )
    """With separate stores: which process fired which tick, and when by its own clock."""


@dataclass(slots=True)
class History:
    """Everything that happened in one world."""

    seed: int
    start: datetime
    """The wall clock at true time zero."""
    requests: list[ExecutedRequest] = field(default_factory=list[ExecutedRequest])
    beliefs: list[Belief] = field(default_factory=list[Belief])
    handler_steps: list[HandlerStep] = field(default_factory=list[HandlerStep])
    lock_uses: list[LockUse] = field(default_factory=list[LockUse])
    draining: dict[str, float] = field(default_factory=dict[str, float])
    """Draining processes, and since when they drain."""
    acknowledged: list[Acknowledged] = field(default_factory=list[Acknowledged])
    log: list[LogEntry] = field(default_factory=list[LogEntry])
    rare_events: Counter[str] = field(default_factory=Counter[str])
    """How often each rare state was reached."""
    faults: Counter[str] = field(default_factory=Counter[str])
    kinds: frozenset[str] = frozenset()
    """The kinds of faults that this world may have."""
    store: StoreKind = "memory"
    folder: str = ""
    """The folder of the store's file, which has another name in each run."""
    separate_stores: bool = False
    """Whether each node has its own store (the in-process mode)."""
    healed_at: float = 0.0
    """When the faults stopped."""
    ended_at: float = 0.0
    leaders: list[tuple[float, str | None]] = field(default_factory=list[tuple[float, str | None]])
    """Who led, sampled at intervals after the healing."""
    dump: Dump = field(default_factory=Dump)

    def wall(self, at: float) -> datetime:
        """The true wall clock at a true time."""
        return self.start + timedelta(seconds=at)

    def calls(self, *names: str) -> Iterator[ExecutedRequest]:
        """The executed requests of these calls, in order."""
        return (each for each in self.requests if each.call in names)
