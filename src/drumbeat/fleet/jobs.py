"""The protocol for jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.fleet.written import WriteResult
from drumbeat.model.fleet.token import Scope
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job import AttemptView, JobView
from drumbeat.wire.new_job import NewJobsView, NewJobView
from drumbeat.wire.queries import JobQuery, WaitQuery

LARGEST_BATCH = 4 * 1024 * 1024
"""Bytes of a request that creates many jobs."""


class FleetJobs(Protocol):
    """Create, look at, wait for, retry and cancel jobs. Secret arguments are redacted."""

    @endpoint("POST /jobs", "Create a job", scope=Scope.SUBMITTER, status=201)
    async def create(self, new: NewJobView) -> WriteResult[JobView]:
        """Create a job; if its dedupe key is taken, return the job that holds the key.

        Arguments are checked if the task is known where the job is created; a worker checks them
        in any case. Raises `InvalidInput` (also for Drumbeat's own tasks and queue) and
        `OversizedArguments`. Idempotent only with a dedupe key.
        """
        ...

    @endpoint(
        "POST /jobs/batch",
        "Create up to 1,000 jobs, all or none",
        scope=Scope.SUBMITTER,
        status=201,
        body=NewJobsView,
        largest_body=LARGEST_BATCH,
    )
    async def create_many(self, new: Sequence[NewJobView]) -> Sequence[JobView]:
        """Create 1 to 1,000 jobs in one transaction, and return them in the same order."""
        ...

    @endpoint("GET /jobs/{id}", "Show a job")
    async def get(self, job_id: int) -> JobView:
        """The job; `UnknownJob` if there is none."""
        ...

    @endpoint("GET /jobs", "List jobs, the newest first", query=JobQuery)
    async def list(
        self, wanted: JobFilter | None = None, page: PageRequest | None = None
    ) -> Page[JobView]:
        """A page of the jobs that match, newest first.

        The page is shorter than requested if its jobs are large; only `next` says whether there
        is more.
        """
        ...

    @endpoint("GET /jobs/{id}/attempts", "Show the ended attempts of a job, the oldest first")
    async def attempts(self, job_id: int) -> Sequence[AttemptView]:
        """The ended attempts of a job, oldest first; `UnknownJob` if there is no such job."""
        ...

    @endpoint(
        "GET /jobs/{id}/wait",
        "Wait until a job is finished, at most a minute",
        query=WaitQuery,
        refuses=(504,),
    )
    async def wait(self, job_id: int, timeout: float | None = None) -> JobView:
        """The job once it is finished; `WaitTimeout` if it is not within `timeout` seconds."""
        ...

    @endpoint(
        "POST /jobs/{id}/cancel",
        "Cancel a waiting job, or ask a running one to stop",
        refuses=(409,),
    )
    async def cancel(self, job_id: int, reason: str = "") -> JobView:
        """Cancel a waiting job, or ask a running one to end.

        The job returned is cancelled, or still running with `cancel_requested`. Raises
        `WrongStatus` if it is finished already.
        """
        ...

    @endpoint("POST /jobs/{id}/retry", "Queue a failed or cancelled job again", refuses=(409,))
    async def retry(self, job_id: int, reason: str = "") -> JobView:
        """Queue a failed or cancelled job again, with a new count of attempts.

        Raises `WrongStatus` for a job of any other status.
        """
        ...
