"""The protocol for operations: changes of many jobs, made by the leader in the background."""

from __future__ import annotations

from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.operation import NewOperationView, OperationView


class FleetOperations(Protocol):
    """Retry or cancel many jobs. An operation is a job itself and survives its worker."""

    @endpoint(
        "POST /jobs/retry",
        "Retry all failed and cancelled jobs that match a filter",
        status=202,
        body=NewOperationView,
    )
    async def retry_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> OperationView:
        """Start an operation that queues all matching failed and cancelled jobs again.

        An empty filter needs `everything`. A dry run only counts the jobs, and is not audited.
        """
        ...

    @endpoint(
        "POST /jobs/cancel",
        "Cancel all unfinished jobs that match a filter",
        status=202,
        body=NewOperationView,
    )
    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> OperationView:
        """Start an operation that cancels all matching unfinished jobs, as `retry_jobs` does."""
        ...

    @endpoint("GET /operations/{id}", "Show the progress of an operation")
    async def get(self, operation_id: int) -> OperationView:
        """The operation and its progress; `UnknownOperation` if there is none."""
        ...

    @endpoint("GET /operations", "List operations on many jobs, the newest first")
    async def list(self, page: PageRequest | None = None) -> Page[OperationView]:
        """A page of operations, newest first."""
        ...

    @endpoint(
        "POST /operations/{id}/cancel",
        "Cancel an operation; its changes so far remain",
        refuses=(409,),
    )
    async def cancel(self, operation_id: int, reason: str = "") -> OperationView:
        """Cancel an operation; returns it while it is still stopping.

        What it has done stays done. Raises `WrongStatus` if it has ended already.
        """
        ...
