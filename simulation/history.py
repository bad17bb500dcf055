"""The history: what happened in a simulated world, in true time, append-only.

Checkers are pure functions over it and over what the store holds at the end. Nobody inside the
world can see it.
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
"""The backend of a world, as its store and as its coordinator."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A request that a server carried out. Its answer may never have arrived."""

    at: float
    """True seconds since the start."""
    server_elapsed: float
    """The same by the server's own count."""
    by: str
    """The process that sent it, such as n1.2: the second start of node n1."""
    server: str
    call: str
    arguments: tuple[object, ...]
    answer: object
    error: Exception | None
    sender_alive: bool
    """Whether the process that sent it still lived when it was carried out."""


@dataclass(frozen=True, slots=True)
class Believed:
    """A process came to believe, or went on believing, that it leads."""

    at: float
    by: str
    lease: Lease
    until: float
    """In true time, unless something ends it before."""
    others: tuple[str, ...]
    """Who else believed at that moment."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A handler began or ended."""

    at: float
    by: str
    hold: Hold
    what: str
    """`started`, `returned`, `raised`, or `stopped` if it was cancelled."""
    payload: object = None
    rivals: tuple[str, ...] = ()
    """Processes, neither paused nor dead, in which a handler of the same job was still running."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A process did something under a lock that it trusted in."""

    at: float
    by: str
    name: str
    token: int
    others: tuple[str, ...]
    """Who else trusted in a hold of the same lock at that moment."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A client was told that something was done."""

    at: float
    what: str
    """`submitted`, or the name of an edit."""
    subject: object


@dataclass(frozen=True, slots=True)
class Told:
    """Something worth a line in the story: a fault, a start, an event of a node."""

    at: float
    by: str
    kind: str
    text: str


@dataclass(slots=True)
class Dump:
    """What the store holds."""

    schedules: Sequence[StoredSchedule] = ()
    ledger: Mapping[str, Sequence[TickRecord]] = field(
        default_factory=dict[str, Sequence[TickRecord]]
    )
    jobs: Sequence[Job] = ()
    fires: Mapping[str, Sequence[tuple[str, datetime, datetime]]] = field(
        default_factory=dict[str, Sequence[tuple[str, datetime, datetime]]]
    )
    """In a world of stores apart: who fired which tick of a schedule, and when by its clock."""


@dataclass(slots=True)
class History:
    """Everything that happened in one world."""

    seed: int
    start: datetime
    """The wall clock at true time zero."""
    applied: list[Applied] = field(default_factory=list[Applied])
    believed: list[Believed] = field(default_factory=list[Believed])
    ran: list[Ran] = field(default_factory=list[Ran])
    guarded: list[Guarded] = field(default_factory=list[Guarded])
    draining: dict[str, float] = field(default_factory=dict[str, float])
    """Processes that have said that they drain, and since when."""
    acknowledged: list[Acknowledged] = field(default_factory=list[Acknowledged])
    told: list[Told] = field(default_factory=list[Told])
    noted: Counter[str] = field(default_factory=Counter[str])
    """Rare states that were reached, and how often."""
    faults: Counter[str] = field(default_factory=Counter[str])
    kinds: frozenset[str] = frozenset()
    """The kinds of faults that this world may have."""
    store: StoreKind = "memory"
    apart: bool = False
    """Whether each node had a store of its own (the in-process mode)."""
    healed_at: float = 0.0
    """When the faults stopped."""
    ended_at: float = 0.0
    leaders: list[tuple[float, str | None]] = field(default_factory=list[tuple[float, str | None]])
    """Who led, looked at again and again after the healing."""
    dump: Dump = field(default_factory=Dump)

    def wall(self, at: float) -> datetime:
        """The true wall clock at a true time."""
        return self.start + timedelta(seconds=at)

    def calls(self, *names: str) -> Iterator[Applied]:
        """What the servers carried out of these calls, in their order."""
        return (each for each in self.applied if each.call in names)
