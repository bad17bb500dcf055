"""Operations on the wire: changes of many jobs, as they go on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from msgspec import Struct

from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.operation import Kind, Operation
from drumbeat.wire.fields import Reason
from drumbeat.wire.job_filter import JobFilterView, filter_view
from drumbeat.wire.parameters import Parameters


class NewOperationView(Parameters, kw_only=True, rename={"wanted": "filter", "everything": "all"}):
    """Which jobs are to be changed."""

    wanted: JobFilterView
    everything: bool = False
    """Has to be true where the filter restricts nothing."""
    reason: Reason = ""
    dry_run: bool = False
    """Only count them."""

    def __post_init__(self) -> None:
        self.wanted.check_instants("filter.")

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "wanted": self.wanted.filter()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        return super().of({**given, "wanted": filter_view(given["wanted"])})


class OperationView(Struct, frozen=True, kw_only=True):
    """A change of many jobs in the background. It is a job itself, of the same id."""

    id: int
    kind: Kind
    status: Status
    filter: JobFilterView
    reason: str = ""
    dry_run: bool = False
    done: int = 0
    """Jobs that were changed so far, or that a dry run has found."""
    total: int | None = None
    """Jobs that there were to change; null: not counted yet, or too many to count."""
    failed: int = 0
    """Jobs whose status had changed before their turn came."""
    message: str = ""
    error: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None


def operation_view(operation: Operation) -> OperationView:
    return OperationView(
        id=operation.id,
        kind=operation.kind,
        status=operation.status,
        filter=filter_view(operation.wanted),
        reason=operation.reason,
        dry_run=operation.dry_run,
        done=operation.done,
        total=operation.total,
        failed=operation.failed,
        message=operation.message,
        error=operation.error,
        created_at=operation.created_at,
        started_at=operation.started_at,
        finished_at=operation.finished_at,
    )
