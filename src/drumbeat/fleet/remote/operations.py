"""The bulk operations of a remote fleet."""

from __future__ import annotations

import asyncio

from drumbeat.fleet.remote.job_wait import finished_within
from drumbeat.fleet.remote.resource import RemoteResource
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job_filter import filter_view
from drumbeat.wire.operation import NewOperationView, OperationView


class RemoteOperations(RemoteResource):
    """Implements `FleetOperations`."""

    async def retry_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> OperationView:
        """Start an operation that queues all matching failed and cancelled jobs again.

        An empty filter needs `everything`. A dry run only counts the jobs.
        """
        new = _new(wanted, reason, everything=everything, dry_run=dry_run)
        return await self._post(OperationView, "jobs", "retry", body=new)

    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> OperationView:
        """Start an operation that cancels all matching unfinished jobs, as `retry_jobs` does."""
        new = _new(wanted, reason, everything=everything, dry_run=dry_run)
        return await self._post(OperationView, "jobs", "cancel", body=new)

    async def get(self, operation_id: int) -> OperationView:
        """The operation and its progress; `UnknownOperation` if there is none."""
        return await self._get(OperationView, "operations", operation_id)

    async def list(self, page: PageRequest | None = None) -> Page[OperationView]:
        """A page of operations, newest first."""
        return await self._page(OperationView, "operations", page=page)

    async def cancel(self, operation_id: int, reason: str = "") -> OperationView:
        """Cancel an operation; returns it while it is still stopping.

        What it has done stays done. Raises `WrongStatus` if it has ended already.
        """
        path = ("operations", operation_id, "cancel")
        return await self._post(OperationView, *path, body={"reason": reason})

    async def wait(self, operation_id: int, timeout: float | None = None) -> OperationView:
        """The operation once it has ended; `WaitTimeout` if it has not within `timeout` seconds."""
        await self.get(operation_id)  # an error about an operation, and not about a job
        loop = asyncio.get_running_loop()
        job = await finished_within(self._transport, operation_id, loop.time, timeout)
        if job is None:
            raise WaitTimeout(f"operation {operation_id} has not ended in {timeout:g} s")
        return await self.get(operation_id)


def _new(wanted: JobFilter, reason: str, *, everything: bool, dry_run: bool) -> NewOperationView:
    return NewOperationView(
        filter=filter_view(wanted), all=everything, reason=reason, dry_run=dry_run
    )
