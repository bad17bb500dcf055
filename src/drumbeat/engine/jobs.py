"""Jobs at run time: find them, wait for them, cancel them, try them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drumbeat.engine.operations import Operations
from drumbeat.engine.plumbing.finished_hints import finished_hints
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.tasks.options import LITERAL_AT_CALLS, TaskOptions
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.task import TaskDefinition
from drumbeat.model.errors import JobFailed, UnknownJob
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    UNFINISHED,
    AttemptRecord,
    Cancelled,
    CancelRequested,
    Job,
    JobFilter,
    Reopened,
    Status,
    TooLate,
)
from drumbeat.model.jobs.operation import Operation
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.time.duration import Duration
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store


class Jobs:
    """The operations on jobs, from any node. Each takes a job or its id."""

    def __init__(
        self, store: Store, submitter: Submitter, registry: TaskRegistry, clock: Clock
    ) -> None:
        self._store = store
        self._submitter = submitter
        self._registry = registry
        self._clock = clock

    async def submit(
        self,
        task: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: TaskOptions | None = None,
    ) -> Job:
        """Submit a task by its name; `UnknownTask` if it is not registered here."""
        definition = self._registry.get(task)
        chosen = _of_call(definition, options)
        return await self._submitter.submit(definition.job(tuple(args), kwargs or {}, chosen))

    async def submit_many(
        self,
        task: str,
        calls: Iterable[Sequence[Any] | Mapping[str, Any]],
        options: TaskOptions | None = None,
    ) -> Sequence[Job]:
        """Submit a task by its name many times: arguments in order, or by name, for each."""
        definition = self._registry.get(task)
        chosen = _of_call(definition, options)
        return await self._submitter.submit_many(
            [definition.job_for(call, chosen) for call in calls]
        )

    async def get(self, job_id: int | Job) -> Job:
        """The job; `UnknownJob` if there is none."""
        (job,) = await self._store.jobs.get([id_of(job_id)])
        if job is None:
            raise UnknownJob(id_of(job_id))
        return job

    async def list(
        self, wanted: JobFilter | None = None, page: PageRequest | None = None
    ) -> Page[Job]:
        """Jobs that match the filter, newest first."""
        return await self._store.jobs.list(wanted or JobFilter(), page or PageRequest())

    async def attempts(self, job_id: int | Job) -> Sequence[AttemptRecord]:
        """The ended attempts of a job, oldest first."""
        return await self._store.jobs.attempts(id_of(job_id))

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """How many jobs of each queue have each status."""
        return await self._store.jobs.counts()

    async def cancel(
        self, job_id: int | Job, reason: str = ""
    ) -> Cancelled | CancelRequested | TooLate:
        """End a waiting job, or ask a running one to end."""
        (verdict,) = await self._store.jobs.cancel([id_of(job_id)], reason)
        _refuse_unknown(verdict)
        return verdict

    async def retry(self, job_id: int | Job) -> Reopened | TooLate:
        """Queue a failed or cancelled job again, with its attempts counted anew."""
        (verdict,) = await self._store.jobs.reopen([id_of(job_id)])
        _refuse_unknown(verdict)
        return verdict

    async def retry_many(
        self, wanted: JobFilter, *, everything: bool = False, dry_run: bool = False
    ) -> Operation:
        """Queue again all failed and cancelled jobs that match, in the background.

        A filter that restricts nothing needs `everything`. A dry run only counts them.
        `app.operations` reports its progress.
        """
        return await self._operations.retry(wanted, everything=everything, dry_run=dry_run)

    async def cancel_many(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Cancel all unfinished jobs that match, in the background, as `retry_many` does."""
        return await self._operations.cancel_jobs(
            wanted, reason, everything=everything, dry_run=dry_run
        )

    @property
    def _operations(self) -> Operations:
        return Operations(self._store, self._submitter, self._clock)

    async def wait(self, job_id: int | Job, timeout: Duration | None = None) -> Job:
        """The job once it is finished; `WaitTimeout` if it is not within this time."""
        what = f"job {id_of(job_id)} did not finish"
        async with finished_hints(self._store, self._clock, timeout, what) as next_hint:
            while not (job := await self.get(job_id)).status.final:
                await next_hint()
            return job

    async def result(self, job_id: int | Job, timeout: Duration | None = None) -> Any:
        """What the job's handler returned; `JobFailed` if it failed or was cancelled."""
        job = await self.wait(job_id, timeout)
        if job.status is not Status.COMPLETED:
            raise JobFailed(job.id, job.status, job.error)
        if job.result is None:
            return None
        return self._registry.get(job.task).codec.decode_result(job.result)

    async def wait_until_idle(self, timeout: Duration | None = None) -> None:
        """Return when no job is pending, queued or running."""
        what = "the fleet did not become idle"
        async with finished_hints(self._store, self._clock, timeout, what) as next_hint:
            while await self._unfinished():
                await next_hint()

    async def _unfinished(self) -> bool:
        counts = await self._store.jobs.counts()
        return any(queue.get(status, 0) for queue in counts.values() for status in UNFINISHED)


def id_of(job: int | Job) -> JobId:
    return job.id if isinstance(job, Job) else JobId(job)


def _refuse_unknown(verdict: Cancelled | CancelRequested | Reopened | TooLate) -> None:
    if isinstance(verdict, TooLate) and verdict.status is None:
        raise UnknownJob(verdict.job_id)


def _of_call(definition: TaskDefinition, options: TaskOptions | None) -> TaskOptions | None:
    if options is None:
        return None
    texts = {name: getattr(options, name) for name in LITERAL_AT_CALLS}
    return definition.call_options(options, texts)
