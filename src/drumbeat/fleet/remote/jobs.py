"""The jobs of a remote fleet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Unpack

from drumbeat.fleet.endpoint import CREATED, endpoint_of
from drumbeat.fleet.jobs import FleetJobs
from drumbeat.fleet.remote.call_options import JobSettings, arguments_of, job_options
from drumbeat.fleet.remote.job_wait import finished_within
from drumbeat.fleet.remote.parts import RemoteQueues
from drumbeat.fleet.remote.resource import RemoteResource, every_page, part, request_of
from drumbeat.fleet.written import WriteResult
from drumbeat.model.errors import InvalidInput, JobFailed
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.time.duration import Duration
from drumbeat.wire.job import JobView
from drumbeat.wire.new_job import NewJobView

CREATE = endpoint_of(FleetJobs.create)


class RemoteJobs(RemoteResource, FleetJobs):
    """Implements `FleetJobs`, with `submit` and other calls that are convenient in Python."""

    async def create(self, new: NewJobView) -> WriteResult[JobView]:
        """Create a job; if its dedupe key is taken, return the job that holds the key.

        With a dedupe key it is sent again if the server does not answer; without one,
        `Unavailable` means that the job may or may not have been created.
        """
        request = request_of(
            CREATE, {"new": new}, idempotent=new.dedupe_key is not None, subject=new.task or ""
        )
        response = await self._transport.send(request)
        return WriteResult(response.read(JobView), response.status == CREATED)

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

    def all(self, wanted: JobFilter | None = None) -> AsyncGenerator[JobView]:
        """All jobs that match, newest first, fetched page by page."""
        return every_page(lambda page: self.list(wanted, page))

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """The number of jobs by queue and status."""
        queues = await part(RemoteQueues, self._transport).list()
        return {queue.name: queue.counts for queue in queues if any(queue.counts.values())}

    async def wait(self, job_id: int | JobView, timeout: Duration | None = None) -> JobView:
        """The job once it is finished; `WaitTimeout` if it is not within this time."""
        number = job_id.id if isinstance(job_id, JobView) else job_id
        what = f"job {number} did not finish"
        return await finished_within(self._transport, number, timeout, what)

    async def result(self, job_id: int | JobView, timeout: Duration | None = None) -> Any:
        """The result of the job, as JSON; `JobFailed` if it failed or was cancelled."""
        job = await self.wait(job_id, timeout)
        if job.status is not Status.COMPLETED:
            raise JobFailed(job.id, job.status, job.error)
        return job.result


def _call(call: Sequence[Any] | Mapping[str, Any]) -> Any:
    if isinstance(call, Mapping):
        return dict(call)
    if isinstance(call, str):
        raise InvalidInput(f"the arguments of a call are a sequence or a mapping, not {call!r}")
    return [*call]
