"""Asked: what the commands ask, be it of an app here or of a server elsewhere.

`local` answers from the store itself, `remote` over HTTP. A command does not know which it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Protocol

from drumbeat.model.audit import AuditEntry, AuditFilter
from drumbeat.model.explanation import Explanation
from drumbeat.model.ids import NodeId
from drumbeat.model.job import (
    AttemptRecord,
    Cancelled,
    CancelRequested,
    Job,
    JobFilter,
    Reopened,
    Status,
    TooLate,
)
from drumbeat.model.lease import Lease, TermRecord
from drumbeat.model.node import NodeRecord
from drumbeat.model.operation import Operation
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import AlreadyFired, Backfilled, Fire, TickRecord
from drumbeat.model.queue import PausedQueue, Queues
from drumbeat.model.schedule import StoredSchedule
from drumbeat.model.token import NameTaken, Scope, TokenRecord
from drumbeat.model.trigger import Trigger

if TYPE_CHECKING:
    from drumbeat.cli.checks import Check


@dataclass(frozen=True, slots=True)
class Order:
    """A job to submit."""

    task: str
    arguments: Mapping[str, Any]
    """By name."""
    options: Mapping[str, Any]
    known: bool = False
    """Whether a task that is not known is refused."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A schedule to create, or to replace."""

    name: str
    trigger: Trigger
    task: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By name."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Policies, and options of its jobs."""
    description: str = ""
    known: bool = False
    """Whether a task that is not known is refused."""


class AskedJobs(Protocol):
    """What is asked of jobs."""

    async def get(self, job_id: int) -> Job:
        """The job; `UnknownJob` if there is none."""
        ...

    async def list(
        self, wanted: JobFilter | None = None, page: PageRequest | None = None
    ) -> Page[Job]:
        """Jobs that match, newest first."""
        ...

    async def attempts(self, job_id: int) -> Sequence[AttemptRecord]:
        """The ended attempts of a job."""
        ...

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """How many jobs of each queue stand where."""
        ...

    async def cancel(self, job_id: int, reason: str = "") -> Cancelled | CancelRequested | TooLate:
        """End a waiting job, or ask a running one to end."""
        ...

    async def retry(self, job_id: int) -> Reopened | TooLate:
        """Queue a failed or cancelled job again."""
        ...

    async def wait(self, job_id: int, timeout: float | None = None) -> Job:
        """The job once it is finished."""
        ...


class AskedSchedules(Protocol):
    """What is asked of schedules."""

    async def get(self, name: str) -> StoredSchedule:
        """The schedule; `UnknownSchedule` if there is none."""
        ...

    async def list(self, page: PageRequest | None = None, prefix: str = "") -> Page[StoredSchedule]:
        """Schedules by name."""
        ...

    async def ticks(self, name: str, page: PageRequest | None = None) -> Page[TickRecord]:
        """What became of its ticks."""
        ...

    async def preview(self, name: str, count: int = 10) -> Sequence[datetime]:
        """Its next ticks."""
        ...

    async def pause(self, name: str, reason: str = "") -> StoredSchedule:
        """Stop firing."""
        ...

    async def resume(self, name: str) -> StoredSchedule:
        """Fire again."""
        ...

    async def skip(self, name: str, tick_at: datetime) -> StoredSchedule:
        """Skip one tick."""
        ...

    async def unskip(self, name: str, tick_at: datetime) -> StoredSchedule:
        """Take that back."""
        ...

    async def remove(self, name: str) -> None:
        """Remove it."""
        ...

    async def trigger(
        self,
        name: str,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Job:
        """Submit its task now."""
        ...


class AskedQueues(Protocol):
    """What is asked of queues."""

    async def list(self) -> Queues:
        """All queues by name."""
        ...

    async def pause(self, name: str, reason: str = "") -> PausedQueue:
        """Claim no job of it any more."""
        ...

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of it again; None: it was not paused."""
        ...


class AskedOperations(Protocol):
    """What is asked of changes of many jobs."""

    async def retry(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Queue all that match again."""
        ...

    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Cancel all that match."""
        ...

    async def get(self, operation_id: int) -> Operation:
        """How far it has come."""
        ...


class AskedLeadership(Protocol):
    """What is asked of leaders."""

    async def leader(self) -> Lease | None:
        """Who leads."""
        ...

    async def history(self, page: PageRequest, election: str) -> Page[TermRecord]:
        """Who led, the latest first."""
        ...

    async def resign(self, timeout: float) -> tuple[Lease | None, Lease | None]:
        """Who led, and who leads now; both None: nobody led."""
        ...


class AskedTokens(Protocol):
    """What is asked of tokens."""

    async def create(
        self, name: str, scope: Scope, lifetime: timedelta | None
    ) -> tuple[TokenRecord, str] | NameTaken:
        """A new token with its secret."""
        ...

    async def list(self) -> Sequence[TokenRecord]:
        """All tokens."""
        ...

    async def revoke(self, name_or_id: str) -> TokenRecord | None:
        """Let nobody in by it any more; None: there is none."""
        ...


class AskedAudit(Protocol):
    """What is asked of the audit log."""

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        """Entries that match, newest first."""
        ...


class Asked(Protocol):
    """Whoever answers the commands."""

    @property
    def in_memory(self) -> bool:
        """Whether the store is a new and empty one of this process, so that it knows nothing."""
        ...

    @property
    def has_coordinator(self) -> bool:
        """Whether it is known who leads although the store is in memory."""
        ...

    @property
    def jobs(self) -> AskedJobs:
        """Jobs."""
        ...

    @property
    def schedules(self) -> AskedSchedules:
        """Schedules."""
        ...

    @property
    def queues(self) -> AskedQueues:
        """Queues."""
        ...

    @property
    def operations(self) -> AskedOperations:
        """Changes of many jobs."""
        ...

    @property
    def leadership(self) -> AskedLeadership:
        """Leaders."""
        ...

    @property
    def tokens(self) -> AskedTokens:
        """Tokens."""
        ...

    @property
    def audit(self) -> AskedAudit:
        """The audit log."""
        ...

    async def submit(self, order: Order) -> Job:
        """Submit a job; arguments of a task that is not known go unchecked."""
        ...

    async def unchecked(self, task: str) -> str | None:
        """Why nobody checks the arguments of a task, in a sentence; None: somebody does."""
        ...

    async def define(self, definition: Definition) -> StoredSchedule:
        """Create a schedule, or replace its definition."""
        ...

    async def backfill(
        self, name: str, start: datetime, end: datetime | None, *, dry_run: bool
    ) -> Sequence[Backfilled | AlreadyFired | Fire]:
        """Fire past ticks that did not fire, up to now if no end is given."""
        ...

    async def explain(self, name: str, ticks: int, zone: tzinfo | None) -> Explanation:
        """Why a schedule did or did not run, with times in a zone (None: this machine's)."""
        ...

    async def nodes(self) -> Sequence[NodeRecord]:
        """The nodes of the fleet."""
        ...

    async def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop."""
        ...

    async def now(self) -> datetime:
        """What time it is there."""
        ...

    async def checks(self) -> Sequence[Check]:
        """Whether it answers and is in order itself."""
        ...

    async def unknown_tasks(self, limit: int) -> Sequence[str] | None:
        """Tasks that wait and that it does not know; None: it cannot tell."""
        ...

    def secrets(self, task: str) -> Collection[str]:
        """The arguments of a task that are not to be shown."""
        ...
