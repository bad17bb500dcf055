"""The store: holds the truth and decides.

Every method is one atomic step: it happens as a whole or not at all, also when the caller dies or
is cancelled while it waits. Any call may raise `Unavailable`; a write that did may or may not have
happened, so the caller looks again and never assumes. Batches go in and verdicts come out in the
same order. `at` is the instant to judge by: production passes nothing and the store's own clock
decides; tests pass one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import (
    Attempt,
    AttemptRecord,
    Cancelled,
    CancelRequested,
    Duplicate,
    Inserted,
    Job,
    JobFilter,
    JobSpec,
    Promoted,
    Reopened,
    Settled,
    Settlement,
    Status,
    Superseded,
    Taken,
    TooLate,
    Wanted,
)
from drumbeat.model.lease import Epoch, FenceRow, Lease, Outranked, TermRecord
from drumbeat.model.node import Beat, NodeRecord, Pulse
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import (
    AlreadyFired,
    Backfilled,
    Committed,
    Edit,
    Fire,
    Plan,
    Raced,
    TickRecord,
    Written,
)
from drumbeat.model.schedule import Due, Found, Revision, StoredSchedule
from drumbeat.ports.audit import AuditLog
from drumbeat.ports.joining import Joining
from drumbeat.ports.queues import QueueStore
from drumbeat.ports.tokens import TokenStore

At: TypeAlias = datetime | None


class Topic(StrEnum):
    """What a hint is about."""

    JOBS = "jobs"
    """A job may have become ready to run."""
    TIMES = "times"
    """A schedule or a pending job may be due earlier than was known."""
    FINISHED = "finished"
    """A job may have ended."""
    CANCELLATIONS = "cancellations"
    """The cancellation of a running job may have been asked for."""


class ScheduleStore(Protocol):
    """Schedules, their cursors and the ledger of their ticks."""

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        """The schedules of these names, None for each that does not exist."""
        ...

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        """All schedules whose name has the prefix, by name."""
        ...

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        """Apply each edit whose `before` still stands, by version and cursor, with its skips.

        Each edit is a step of its own: one that races does not hold the others back.
        """
        ...

    async def due(self, limit: int, at: At = None) -> Due:
        """At most `limit` schedules whose next tick has come, the longest overdue first."""
        ...

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        """Write each plan whole: jobs, ledger rows, cancellations, cursor. The heart of it all.

        Raises `StaleEpoch`, and writes nothing of any plan, unless the epoch is the one that holds
        the fence at the moment of writing; also for a batch of no plans. A plan whose schedule no
        longer stands as it was read, by version, cursor and (where it assumes one) the previous
        job's state, is `Raced` and leaves no trace; the others are written. A tick that the ledger
        has as fired never fires again, even if a plan says so.
        """
        ...

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        """Fire past ticks by hand. Each fires unless the ledger has it as fired already.

        The schedule itself stays as it is; one that does not exist is `UnknownSchedule`. Like a
        commit, this heeds no dedupe key.
        """
        ...

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        """The ledger of a schedule, latest tick first. It outlives the schedule."""
        ...

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        """The last rows of all ledgers, recorded at `since` or later; those recorded last first.

        Rows of one instant have an order too, the same at every look.
        """
        ...

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        """How schedules were changed last, by name: at most `limit` whose names come after one."""
        ...


class JobStore(Protocol):
    """Jobs, and the holds on them."""

    async def insert(
        self, specs: Sequence[JobSpec], at: At = None
    ) -> Sequence[Inserted | Duplicate]:
        """Create jobs: `queued` if their time has come, else `pending`. All or none.

        A spec whose dedupe key is taken, by an unfinished job or by one that ended less than its
        `dedupe_for` ago, creates nothing; so does the second of two equal keys in one batch.
        """
        ...

    async def promote(self, limit: int, at: At = None) -> Promoted:
        """Queue pending jobs whose time has come, earliest first, and say when the next is due."""
        ...

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> Promoted:
        """Tickets, to be published again, of jobs that have been queued for so long."""
        ...

    async def take(
        self,
        wanted: Wanted,
        by: NodeId,
        settled: Sequence[Settlement] = (),
        at: At = None,
    ) -> Taken:
        """Settle the last batch, then claim the next, in one step.

        Claims queued jobs of the wanted queues and tasks: higher priority first, then the earlier
        `run_at`, then the lower id. A claim raises `fence` and `attempt` by one and makes the job
        `running`. No claim breaks a limit or a rate: such a job keeps waiting. Once its rate is
        open and every limit that it waits for has room, a limit that is reached and whose
        `on_conflict` is `cancel` ends it as cancelled. With nothing wanted it only settles.

        `wanted.ahead` asks for more than `wanted.limit`, in the same order, to be held and not
        started at once. A job with limits or a rate is never claimed so: holding it would keep its
        key from others. Where such a job would be next, the claim ends.

        Jobs of a queue that is paused are not claimed, nor cancelled for their limit: to a claim
        they are not there.
        """
        ...

    async def settle(
        self, settlements: Sequence[Settlement], at: At = None
    ) -> Sequence[Settled | Superseded]:
        """Close each attempt whose hold is current: status running, and the same fence.

        RETRY and SNOOZE wait for their delay from now; GIVE_BACK keeps its `run_at`, and so its
        place; SNOOZE and GIVE_BACK take the attempt off the count. A job whose cancellation was
        asked for does not wait or queue again: it ends as cancelled, for the reason that was
        given with that. A hold that is over changes nothing at all. A change that is none of a
        running job's is an `IllegalChange`, raised before anything is written.
        """
        ...

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[Cancelled | CancelRequested | TooLate]:
        """End waiting jobs as cancelled; mark running ones, whose node is told at its next beat."""
        ...

    async def reopen(self, job_ids: Sequence[JobId], at: At = None) -> Sequence[Reopened | TooLate]:
        """Queue failed or cancelled jobs again. The attempts start anew; the fence does not."""
        ...

    async def lost(self, limit: int, at: At = None) -> Sequence[Attempt]:
        """Running attempts whose node's heartbeat is over by the store's clock, or unknown."""
        ...

    async def reap(
        self, settlements: Sequence[Settlement], node: NodeId, at: At = None
    ) -> Sequence[Settled | Superseded]:
        """Close attempts of a node that is dead, as `settle` does.

        Whether it is dead is judged in the same step: it may have been heard of since its attempts
        were found `lost`, and of a node that lives nothing is taken away. A heartbeat that comes
        at the same time either saves them, or is told that they are lost.
        """
        ...

    async def held(self, by: NodeId) -> Sequence[Attempt]:
        """Running attempts of one node: lets it find claims whose answer never reached it."""
        ...

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[Job | None]:
        """The jobs of these ids, None for each that does not exist."""
        ...

    async def list(self, wanted: JobFilter, page: PageRequest) -> Page[Job]:
        """Jobs that match every given field of the filter, newest first."""
        ...

    async def attempts(self, job_id: JobId) -> Sequence[AttemptRecord]:
        """The ended attempts of a job, oldest first, at most the last hundred."""
        ...

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """How many jobs of each queue stand where. Statuses without jobs may be left out."""
        ...

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        """Names of tasks that wait, queued, in these queues and are not among the known."""
        ...


class NodeStore(Protocol):
    """Heartbeats: one per node, for all that it holds."""

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        """Note that the node is alive and how its attempts go on; tell what happened to them."""
        ...

    async def leave(self, node: NodeId) -> None:
        """The node has stopped. What it still held is lost from now on, not after its lifetime."""
        ...

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        """All nodes that were not pruned, ordered by identity."""
        ...

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        ...


class Fence(Protocol):
    """The last word on who may write as a leader."""

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        """Turn a lease into an epoch, and keep the term in the history, in the same step.

        The store keeps, for each election, the highest token that it has seen of each domain. A
        token above it (any, of a domain never seen before) raises it, takes the fence over and
        raises the epoch by one. A token that is not above is outranked and changes nothing, also
        when the very same lease claims again: an unknown outcome is answered by a new term.
        """
        ...

    async def read(self, election: str) -> FenceRow | None:
        """Who holds the fence of an election."""
        ...

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        """The terms of an election that became epochs, latest first, at most the last thousand."""
        ...


class Retention(Protocol):
    """Forgetting, in bounded steps."""

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget jobs that ended so long ago, and whose dedupe key stands for nothing any more.

        How many of each queue ended how is remembered, in the same step: `QueueRecord.totals`.
        """
        ...

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget ledger rows of that age, but never the last row of a schedule."""
        ...

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget nodes whose heartbeat ended so long ago."""
        ...

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Forget entries of the audit log of that age, the oldest first."""
        ...


class Store(Protocol):
    """All of the above, on one truth. A call on a store that is not open opens it first."""

    @property
    def always_hints(self) -> bool:
        """Whether a hint comes of everything that happens, so that nobody has to look without."""
        ...

    @property
    def writers(self) -> int:
        """How many writes it can work on at once: 1 where they would only wait for each other."""
        ...

    async def open(self) -> None:
        """Make ready for use on the calling event loop. Calling it again does nothing."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...

    async def now(self) -> datetime:
        """The store's own clock."""
        ...

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the subscriber's loop after something on the topic; a hint, maybe in vain.

        Returns the call that ends the subscription.
        """
        ...

    @property
    def joining(self) -> Joining | None:
        """How jobs are created within a caller's own transaction; None: they cannot be."""
        ...

    @property
    def schedules(self) -> ScheduleStore:
        """Schedules and ticks."""
        ...

    @property
    def jobs(self) -> JobStore:
        """Jobs and holds."""
        ...

    @property
    def nodes(self) -> NodeStore:
        """Heartbeats."""
        ...

    @property
    def fence(self) -> Fence:
        """Epochs."""
        ...

    @property
    def retention(self) -> Retention:
        """Forgetting."""
        ...

    @property
    def queues(self) -> QueueStore:
        """Queues, and which are paused."""
        ...

    @property
    def audit(self) -> AuditLog:
        """Who changed what."""
        ...

    @property
    def tokens(self) -> TokenStore:
        """Who may use the HTTP API."""
        ...
