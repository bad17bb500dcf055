"""Records: jobs as the memory store keeps them, and the values that it hands out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import (
    Attempt,
    AttemptRecord,
    Change,
    Hold,
    Job,
    JobSpec,
    Progress,
    Status,
)
from drumbeat.model.swift import swift

if TYPE_CHECKING:
    from drumbeat.stores.memory.lane import Group, Lane

PENDING, COMPLETED = Status.PENDING, Status.COMPLETED

HISTORY = 100
"""How many ended attempts of a job are remembered."""

new_job = swift(Job)
new_hold = swift(Hold)
new_attempt = swift(Attempt)


class JobRecord:
    """One job. Only the job table changes it."""

    __slots__ = (
        "attempt",
        "cancel_requested",
        "created_at",
        "error",
        "fence",
        "finished_at",
        "group",
        "history",
        "id",
        "lane",
        "limited",
        "node",
        "place",
        "progress",
        "result",
        "run_at",
        "spec",
        "started_at",
        "status",
    )

    def __init__(self, job_id: JobId, spec: JobSpec, lane: Lane, now: datetime) -> None:
        self.id = job_id
        self.spec = spec
        self.lane = lane
        self.status = PENDING
        self.created_at = now
        self.run_at = now
        self.attempt = 0
        self.fence = 0
        self.node: NodeId | None = None
        self.started_at: datetime | None = None
        self.finished_at: datetime | None = None
        self.result: bytes | None = None
        self.error: str | None = None
        self.progress: Progress | None = None
        self.cancel_requested = False
        self.limited = spec.rate is not None or spec.limits != ()
        self.group: Group | None = None
        """Those that it shares its limits and its rate with, once it has lined up among them."""
        self.place: Place | Appointment | None = None
        """Its entry while it waits. Any other entry of it, in any line or heap, is dead."""
        self.history: list[AttemptRow] | None = None
        """Its ended attempts, but for the one that completed it."""

    def __lt__(self, other: JobRecord) -> bool:
        return False  # a dead and a live entry of one job may meet with equal keys: in any order

    def job(self) -> Job:
        """The job as it stands."""
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
        """The attempt that is running."""
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
        """Keep the attempt that ends now, and forget the oldest beyond a hundred.

        Not needed for one that completes: nothing comes after it, so the job itself tells of it.
        """
        if self.history is None:
            self.history = []
        self.history.append(self._row(change, error, now))
        del self.history[:-HISTORY]

    def attempts(self) -> list[AttemptRecord]:
        """The attempts that ended, oldest first."""
        rows = list(self.history or ())
        if self.status is COMPLETED:
            rows.append(self._row(Change.COMPLETE, self.error, self.finished_at or self.run_at))
        return [AttemptRecord(*row) for row in rows[-HISTORY:]]

    def _row(self, change: Change, error: str | None, now: datetime) -> AttemptRow:
        assert self.node is not None, "a running job has a node"
        assert self.started_at is not None, "a running job has a start"
        return (self.attempt, self.fence, self.node, self.started_at, now, change, error)


AttemptRow: TypeAlias = tuple[int, int, NodeId, datetime, datetime, Change, str | None]
"""An `AttemptRecord` that nobody has asked for yet."""

Place: TypeAlias = tuple[int, datetime, JobId, JobRecord]
"""A queued job: ordered by higher priority (so negated), earlier `run_at`, lower id."""

Appointment: TypeAlias = tuple[datetime, JobId, JobRecord]
"""A pending job: ordered by its time."""

Retirement: TypeAlias = tuple[datetime, JobId]
"""A finished job, ordered by an instant. It names no record, so the collector can ignore it."""
