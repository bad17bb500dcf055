"""The jobs of a remote fleet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Unpack

from drumbeat.fleet.remote.call_options import JobSettings, arguments_of, job_options
from drumbeat.fleet.remote.job_wait import finished_within
from drumbeat.fleet.remote.request import Query, body_of
from drumbeat.fleet.remote.resource import RemoteResource, every_page, request_for
from drumbeat.fleet.written import WriteResult
from drumbeat.model.errors import InvalidInput, JobFailed, WaitTimeout
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job import AttemptView, JobView
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.queue import QueueView

CREATED = 201


class RemoteJobs(RemoteResource):
    """Implements `FleetJobs`, with `submit` and other calls that are convenient in Python."""

    async def create(self, new: NewJobView) -> WriteResult[JobView]:
        """Create a job; if its dedupe key is taken, return the job that holds the key.

        With a dedupe key it is sent again if the server does not answer; without one,
        `Unavailable` means that the job may or may not have been created.
        """
        request = request_for(
            "POST",
            "jobs",
            body=body_of(new),
            idempotent=new.dedupe_key is not None,
            subject=new.task or "",
        )
        response = await self._transport.send(request)
        return WriteResult(response.read(JobView), response.status == CREATED)

    async def create_many(self, new: Sequence[NewJobView]) -> Sequence[JobView]:
        """Create 1 to 1,000 jobs in one transaction, and return them in the same order."""
        return await self._post(list[JobView], "jobs", "batch", body={"jobs": new})

    async def submit(
        self,
        task: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        **options: Unpack[JobSettings],
    ) -> JobView:
        """Create a job of a task, by its name, with arguments in order or by name."""
        fields = {**arguments_of(args, kwargs), **job_options(options)}
        return (await self.create(NewJobView(task=task, **fields))).view

    async def submit_many(
        self,
        task: str,
        calls: Iterable[Sequence[Any] | Mapping[str, Any]],
        **options: Unpack[JobSettings],
    ) -> Sequence[JobView]:
        """Create up to 1,000 jobs, all or none: arguments in order, or by name, for each."""
        chosen = job_options(options)
        return await self.create_many(
            [NewJobView(task=task, args=_call(call), **chosen) for call in calls]
        )

    async def get(self, job_id: int) -> JobView:
        """The job; `UnknownJob` if there is none."""
        return await self._get(JobView, "jobs", job_id)

    async def list(
        self, wanted: JobFilter | None = None, page: PageRequest | None = None
    ) -> Page[JobView]:
        """A page of the jobs that match, newest first."""
        return await self._page(JobView, "jobs", page=page, query=_query(wanted or JobFilter()))

    def all(self, wanted: JobFilter | None = None) -> AsyncGenerator[JobView]:
        """All jobs that match, newest first, fetched page by page."""
        return every_page(lambda page: self.list(wanted, page))

    async def attempts(self, job_id: int) -> Sequence[AttemptView]:
        """The ended attempts of a job, oldest first."""
        return await self._get(list[AttemptView], "jobs", job_id, "attempts")

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """The number of jobs by queue and status."""
        queues = await self._get(list[QueueView], "queues")
        return {queue.name: queue.counts for queue in queues if any(queue.counts.values())}

    async def wait(self, job_id: int, timeout: float | None = None) -> JobView:
        """The job once it is finished; `WaitTimeout` if it is not within `timeout` seconds."""
        loop = asyncio.get_running_loop()
        job = await finished_within(self._transport, job_id, loop.time, timeout)
        if job is None:
            raise WaitTimeout(f"job {job_id} did not finish within {timeout:g} s")
        return job

    async def result(self, job_id: int, timeout: float | None = None) -> Any:
        """The result of the job, as JSON; `JobFailed` if it failed or was cancelled."""
        job = await self.wait(job_id, timeout)
        if job.status is not Status.COMPLETED:
            raise JobFailed(job.id, job.status, job.error)
        return job.result

    async def cancel(self, job_id: int, reason: str = "") -> JobView:
        """Cancel a waiting job, or ask a running one to end; `WrongStatus` if it is finished."""
        return await self._post(JobView, "jobs", job_id, "cancel", body={"reason": reason})

    async def retry(self, job_id: int, reason: str = "") -> JobView:
        """Queue a failed or cancelled job again; `WrongStatus` for a job of any other status."""
        return await self._post(JobView, "jobs", job_id, "retry", body={"reason": reason})


def _call(call: Sequence[Any] | Mapping[str, Any]) -> Any:
    if isinstance(call, Mapping):
        return dict(call)
    if isinstance(call, str):
        raise InvalidInput(f"the arguments of a call are a sequence or a mapping, not {call!r}")
    return [*call]


def _query(wanted: JobFilter) -> Query:
    query = [("status", status.value) for status in sorted(wanted.statuses)]
    for name in ("task", "queue", "schedule", "tag"):
        value = getattr(wanted, name)
        if value is not None:
            query.append((name, value))
    for name, instant in (("since", wanted.created_from), ("until", wanted.created_to)):
        if instant is not None:
            query.append((name, instant.isoformat()))
    return query
