"""Job records: jobs as the memory store keeps them, and the values that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from drumbeat.backends.store_rules import HISTORY
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import (
    Attempt,
    AttemptRecord,
    Change,
    Hold,
    Job,
    JobSpec,
    Progress,
    Status,
)

if TYPE_CHECKING:
    from drumbeat.backends.memory.store.jobs.lanes import Lane, LimitGroup

PENDING, COMPLETED = Status.PENDING, Status.COMPLETED

new_job = fast_constructor(Job)
new_hold = fast_constructor(Hold)
new_attempt = fast_constructor(Attempt)


@dataclass(slots=True, eq=False)
class JobRecord:
    """One job. Only the job table changes it."""

    id: JobId
    spec: JobSpec
    lane: Lane
    created_at: datetime
    run_at: datetime
    limited: bool
    expires_at: datetime | None = None
    status: Status = PENDING
    attempt: int = 0
    fence: int = 0
    node: NodeId | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result: bytes | None = None
    error: str | None = None
    progress: Progress | None = None
    cancel_requested: bool = False
    group: LimitGroup | None = None
    """Its limit group, once it was queued."""
    place: Place | Appointment | None = None
    """Its entry while it waits. Any other entry of it, in any queue or heap, is dead."""
    history: list[AttemptRow] | None = None
    """Its ended attempts, except the one that completed it."""

    def __lt__(self, other: JobRecord) -> bool:
        return False  # a dead and a live entry of one job may meet with equal keys: in any order

    def job(self) -> Job:
        return new_job(
            self.id,
            self.spec,
            self.status,
            self.run_at,
            self.created_at,
            self.attempt,
            self.fence,
            self.node,
            self.started_at,
            self.finished_at,
            self.result,
            self.error,
            self.progress,
            self.cancel_requested,
        )

    def held(self) -> Attempt:
        assert self.node is not None, "a running job has a node"
        assert self.started_at is not None, "a running job has a start"
        return new_attempt(
            new_hold(self.id, self.fence),
            self.attempt,
            self.spec,
            self.node,
            self.started_at,
            self.created_at,
        )

    def remember(self, change: Change, error: str | None, now: datetime) -> None:
        """Keep the attempt that ends now, and at most a hundred.

        Not needed for one that completes its job: the job itself has all of it.
        """
        if self.history is None:
            self.history = []
        self.history.append(self._row(change, error, now))
        del self.history[:-HISTORY]

    def attempts(self) -> list[AttemptRecord]:
        rows = list(self.history or ())
        if self.status is COMPLETED:
            rows.append(self._row(Change.COMPLETE, self.error, self.finished_at or self.run_at))
        return [AttemptRecord(*row) for row in rows[-HISTORY:]]

    def _row(self, change: Change, error: str | None, now: datetime) -> AttemptRow:
        assert self.node is not None, "a running job has a node"
        assert self.started_at is not None, "a running job has a start"
        return (self.attempt, self.fence, self.node, self.started_at, now, change, error)


AttemptRow: TypeAlias = tuple[int, int, NodeId, datetime, datetime, Change, str | None]
"""The fields of an `AttemptRecord`."""

Place: TypeAlias = tuple[int, datetime, JobId, JobRecord]
"""A queued job: ordered by higher priority (so negated), earlier `run_at`, lower id."""

Appointment: TypeAlias = tuple[datetime, JobId, JobRecord]
"""A pending job: ordered by its time."""

Retirement: TypeAlias = tuple[datetime, JobId]
"""A finished job, ordered by an instant. It has no record, so the garbage collector skips it."""
