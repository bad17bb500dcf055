"""The store: keeps schedules and jobs, and decides what is written.

Every method is one atomic step: it is executed completely or not at all, also when the caller
crashes or is cancelled while it waits. Any call may raise `Unavailable`. A write that raised it may
or may not have been executed, so the caller reads the state again and assumes nothing. Batches go
in and verdicts come out in the same order. `at` is the current time for the decision: production
passes nothing and the store uses its own clock; tests pass an instant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from drumbeat.model.fleet.lease import Epoch, FenceRow, Lease, Outranked, TermRecord
    from drumbeat.model.fleet.node import Beat, NodeRecord, Pulse
    from drumbeat.model.ids import JobId, NodeId
    from drumbeat.model.jobs.job import (
        Attempt,
        AttemptRecord,
        Cancelled,
        CancelRequested,
        Duplicate,
        ExpiredJobs,
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
    from drumbeat.model.page import Page, PageRequest
    from drumbeat.model.schedules.plan import (
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
    from drumbeat.model.schedules.schedule import Due, Found, Revision, StoredSchedule
    from drumbeat.ports.administration import AuditLog, QueueStore, TokenStore
    from drumbeat.ports.caller_transaction import Joining
    from drumbeat.ports.witness import Witnesses

At: TypeAlias = datetime | None
NO_TIME = timedelta(0)


class Topic(StrEnum):
    """What a hint is about."""

    JOBS = "jobs"
    """A job may have become ready to run."""
    TIMES = "times"
    """A pending job may be due earlier than was known, or an edit gave a schedule a next tick."""
    FINISHED = "finished"
    """A job may have ended."""
    CANCELLATIONS = "cancellations"
    """The cancellation of a running job may have been requested."""


class ScheduleStore(Protocol):
    """Schedules, their cursors and the ledger of their ticks."""

    async def get(self, names: Sequence[str], at: At = None) -> Found:
        """The schedules of these names, None for each that does not exist."""
        ...

    async def list(self, page: PageRequest, prefix: str = "") -> Page[StoredSchedule]:
        """All schedules whose name has the prefix, by name."""
        ...

    async def put(self, edits: Sequence[Edit], at: At = None) -> Sequence[Written | Raced]:
        """Apply each edit, with its skips, if version and cursor are still those of its `before`.

        Each edit is a separate step: one that is `Raced` does not stop the others.
        """
        ...

    async def due(self, limit: int, at: At = None, *, ahead: timedelta = NO_TIME) -> Due:
        """At most `limit` schedules whose next tick is due within `ahead`, the earliest first."""
        ...

    async def commit(
        self, plans: Sequence[Plan], epoch: Epoch, at: At = None
    ) -> Sequence[Committed | Raced]:
        """Write each plan completely: jobs, ledger rows, cancellations and the cursor.

        This step makes each tick fire exactly once. It raises `StaleEpoch` and writes no plan
        unless the epoch holds the fence at the moment of writing, also for an empty batch. A plan
        is `Raced`, and nothing of it is written, if the schedule has changed since it was read:
        its version, its cursor or, if the plan assumes one, the state of the previous job. So is a
        plan whose new cursor is later than the store's time: a leader may plan ahead, but nothing
        fires early. The other plans are written. A tick that the ledger has as fired never fires
        again, even if a plan contains it. After a crash the next leader plans again from the
        stored cursor. A crash of the store itself may undo a commit whole, until the next claim of
        a job, which makes itself durable and all that was committed before it.
        """
        ...

    async def backfill(
        self, name: str, fires: Sequence[Fire], at: At = None
    ) -> Sequence[Backfilled | AlreadyFired]:
        """Fire past ticks on request. Each fires unless the ledger has it as fired already.

        It does not change the schedule, and raises `UnknownSchedule` if there is none. Like
        `commit`, it ignores dedupe keys. Repeating it is harmless.
        """
        ...

    async def ticks(self, name: str, page: PageRequest) -> Page[TickRecord]:
        """The ledger of a schedule, latest tick first. It outlives the schedule."""
        ...

    async def recorded(self, since: datetime, limit: int) -> Sequence[TickRecord]:
        """The last rows of all ledgers since an instant: latest first, in a stable order."""
        ...

    async def revisions(self, after: str, limit: int) -> Sequence[Revision]:
        """The last change of each schedule, by name: at most `limit` with names after `after`."""
        ...


class JobStore(Protocol):
    """Jobs, and the holds on them."""

    async def insert(
        self, specs: Sequence[JobSpec], at: At = None
    ) -> Sequence[Inserted | Duplicate]:
        """Create jobs, all or none: `queued` if they are due, else `pending`.

        A spec is a `Duplicate` and creates nothing if its dedupe key is in use within its scope: by
        an unfinished job, by one that ended less than its `dedupe_for` ago, or by an earlier spec
        of the batch. After an unknown outcome, only specs with a dedupe key are safe to repeat.
        """
        ...

    async def promote(self, limit: int, at: At = None) -> Promoted:
        """Queue pending jobs that are due, earliest first, and return when the next one is due."""
        ...

    async def expire(self, limit: int, at: At = None) -> ExpiredJobs:
        """End waiting jobs that have expired as cancelled, with the error `EXPIRED`.

        The longest expired come first. Also says when the next one expires, or an earlier instant;
        a job that a worker holds counts again once it waits.
        """
        ...

    async def stale(self, queued_for: timedelta, limit: int, at: At = None) -> Promoted:
        """Tickets of jobs that have been queued for that long, to be published again."""
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
        `running`. A claim never exceeds a limit or a rate: such a job keeps waiting. If only limits
        with `on_conflict` `cancel` or `skip` stand in its way, the job ends as cancelled instead,
        with the error `SKIPPED` if all of them say `skip` and no attempt of it is counted. With
        nothing wanted it only settles.

        `wanted.ahead` asks for more than `wanted.limit` jobs, in the same order, which the node
        holds and starts later. A job with limits or a rate is never claimed ahead, since holding it
        would block others with its key: the claim ends before such a job.

        A job that has expired by the instant of the claim never starts: it ends as by `expire`, and
        is named in `Taken.expired`. If such jobs took the places of others, `try_at` says to ask
        again.

        Jobs of a paused queue are neither claimed nor cancelled for a limit.

        If the answer is lost, the claimed jobs are found by `held`.
        """
        ...

    async def settle(
        self, settlements: Sequence[Settlement], at: At = None
    ) -> Sequence[Settled | Superseded]:
        """Close each attempt whose hold is current: the job is running with the same fence.

        RETRY and SNOOZE wait for their delay from now. GIVE_BACK keeps `run_at`, and so its place.
        SNOOZE and GIVE_BACK do not count the attempt. A job whose cancellation was requested does
        not wait or queue again: it ends as cancelled, with the reason of the request. A RETRY
        whose wait would end when the job has expired fails the job instead, with the same error.
        A hold that is over is `Superseded` and changes nothing, so repeating a settlement is
        harmless. A change that a running job cannot make raises `IllegalChange` before anything
        is written.
        """
        ...

    async def cancel(
        self, job_ids: Sequence[JobId], reason: str = "", at: At = None
    ) -> Sequence[Cancelled | CancelRequested | TooLate]:
        """End waiting jobs as cancelled; mark running ones, whose node learns it with `beat`."""
        ...

    async def reopen(self, job_ids: Sequence[JobId], at: At = None) -> Sequence[Reopened | TooLate]:
        """Queue failed or cancelled jobs again. Attempts count from zero; the fence goes on.

        They do not expire any more: `spec.expires` is None.
        """
        ...

    async def lost(self, limit: int, at: At = None) -> Sequence[Attempt]:
        """Running attempts of nodes that are unknown, or dead by the store's clock."""
        ...

    async def reap(
        self, settlements: Sequence[Settlement], node: NodeId, at: At = None
    ) -> Sequence[Settled | Superseded]:
        """Close attempts of a dead node, as `settle` does.

        The same step checks that the node is still dead: it may have sent a heartbeat since its
        attempts were `lost`, and then nothing changes. A heartbeat at the same time either keeps
        the attempts or learns that they are lost.
        """
        ...

    async def held(self, by: NodeId) -> Sequence[Attempt]:
        """Running attempts of one node, so that it finds claims whose answer was lost."""
        ...

    async def get(self, job_ids: Sequence[JobId]) -> Sequence[Job | None]:
        """The jobs of these ids, None for each that does not exist."""
        ...

    async def list(self, wanted: JobFilter, page: PageRequest) -> Page[Job]:
        """Jobs that match every given field of the filter, newest first."""
        ...

    async def attempts(self, job_id: JobId) -> Sequence[AttemptRecord]:
        """The last hundred ended attempts of a job, oldest first."""
        ...

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """The number of jobs by queue and status. Statuses without jobs may be missing."""
        ...

    async def unknown_tasks(
        self, queues: Sequence[str], known: frozenset[str], limit: int
    ) -> Sequence[str]:
        """Tasks of queued jobs in these queues that are not among the known ones."""
        ...


class NodeStore(Protocol):
    """Heartbeats: one per node, for all attempts that it holds."""

    async def beat(self, beat: Beat, at: At = None) -> Pulse:
        """Record that the node is alive, and the progress of its attempts; return their state."""
        ...

    async def leave(self, node: NodeId) -> None:
        """The node has stopped. Attempts that it still holds are lost at once."""
        ...

    async def list(self, at: At = None) -> Sequence[NodeRecord]:
        """All nodes that were not pruned yet, ordered by identity."""
        ...

    async def request_drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        ...


class Fence(Protocol):
    """Decides which leader may write."""

    async def claim(self, lease: Lease, at: At = None) -> Epoch | Outranked:
        """Turn a lease into an epoch, and record the term in the history, in one step.

        For each election the store keeps the highest token of each domain. A higher token, or any
        token of a new domain, takes over the fence and raises the epoch by one. Any other token is
        `Outranked` and changes nothing, also when the same lease claims again: after an unknown
        outcome the leader needs a new term.
        """
        ...

    async def read(self, election: str) -> FenceRow | None:
        """Who holds the fence of an election."""
        ...

    async def history(self, election: str, page: PageRequest) -> Page[TermRecord]:
        """The last thousand terms of an election that became epochs, latest first."""
        ...


class Retention(Protocol):
    """Deletes old data, at most `limit` rows per call, and returns how many were deleted."""

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Delete jobs that ended that long ago and whose dedupe key is not in use any more.

        The same step adds them to the totals of their queue (`QueueRecord.totals`).
        """
        ...

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Delete ledger rows of that age, but never the last row of a schedule."""
        ...

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Delete nodes whose heartbeat expired that long ago."""
        ...

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        """Delete entries of the audit log of that age, the oldest first."""
        ...


class Store(Protocol):
    """All parts of the store. A call on a store that is not open opens it first."""

    @property
    def always_hints(self) -> bool:
        """Whether every change sends a hint, so that subscribers need not poll."""
        ...

    @property
    def writers(self) -> int:
        """How many writes it executes at once; 1 if concurrent writes only wait for each other."""
        ...

    async def open(self) -> None:
        """Connect on the calling event loop. Calling it again does nothing."""
        ...

    async def close(self) -> None:
        """Release all connections."""
        ...

    async def now(self) -> datetime:
        """The store's own clock."""
        ...

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on the subscriber's loop after a change on the topic; it may be spurious.

        Returns the function that ends the subscription.
        """
        ...

    @property
    def joining(self) -> Joining | None:
        """Creates jobs within a caller's own transaction; None: not supported."""
        ...

    @property
    def witnesses(self) -> Witnesses | None:
        """How it notices the death of a process; None: by heartbeats only.

        It is known once the store is open.
        """
        ...

    @property
    def schedules(self) -> ScheduleStore: ...

    @property
    def jobs(self) -> JobStore: ...

    @property
    def nodes(self) -> NodeStore: ...

    @property
    def fence(self) -> Fence: ...

    @property
    def retention(self) -> Retention: ...

    @property
    def queues(self) -> QueueStore: ...

    @property
    def audit(self) -> AuditLog: ...

    @property
    def tokens(self) -> TokenStore: ...
