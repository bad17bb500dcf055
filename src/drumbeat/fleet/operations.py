"""The protocol for operations: changes of many jobs, made by the leader in the background."""

from __future__ import annotations

from typing import Protocol

from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.operation import OperationView


class FleetOperations(Protocol):
    """Retry or cancel many jobs. An operation is a job itself and survives its worker."""

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

    async def get(self, operation_id: int) -> OperationView:
        """The operation and its progress; `UnknownOperation` if there is none."""
        ...

    async def list(self, page: PageRequest | None = None) -> Page[OperationView]:
        """A page of operations, newest first."""
        ...

    async def cancel(self, operation_id: int, reason: str = "") -> OperationView:
        """Cancel an operation; returns it while it is still stopping.

        What it has done stays done. Raises `WrongStatus` if it has ended already.
        """
        ...
