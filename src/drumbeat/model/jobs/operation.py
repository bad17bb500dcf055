"""Operations: changes of many jobs, which the leader makes in the background."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobFilter, Status


class Kind(StrEnum):
    """What an operation does to the jobs."""

    RETRY = "retry"
    """Failed and cancelled jobs are queued again."""
    CANCEL = "cancel"
    """Unfinished jobs are cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A change of many jobs. It is itself a job with the same id."""

    id: JobId
    kind: Kind
    status: Status
    wanted: JobFilter
    created_at: datetime
    reason: str = ""
    dry_run: bool = False
    """It only counts the jobs."""
    done: int = 0
    """Jobs that were changed so far, or found by a dry run."""
    total: int | None = None
    """Jobs to change; None: not counted yet, or too many to count."""
    failed: int = 0
    """Jobs whose status had changed before their turn came."""
    message: str = ""
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
