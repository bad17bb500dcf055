"""Jobs, asked of a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Unpack

import msgspec

from drumbeat.client.asking import Noun, every_page
from drumbeat.client.operations import Operations
from drumbeat.client.options import JobSettings, arguments_of, job_options
from drumbeat.client.request import Answer, Query, Request, body_of, path_of
from drumbeat.model.errors import InvalidInput, JobFailed, WaitTimeout
from drumbeat.model.ids import JobId
from drumbeat.model.job import (
    AttemptRecord,
    Cancelled,
    CancelRequested,
    Job,
    JobFilter,
    Reopened,
    Status,
    TooLate,
)
from drumbeat.model.operation import Operation
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job import AttemptView, JobView, attempt_of, job_of
from drumbeat.wire.queue import QueueView, queue_of

LONGEST_WAIT = 25.0
"""Seconds that one request waits; a longer wait is several. Proxies cut longer ones off."""
NOT_IN_TIME = "not-in-time"
STATUS = "status"


class Jobs(Noun):
    """What can be asked of jobs."""

    async def submit(
        self,
        task: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        **options: Unpack[JobSettings],
    ) -> Job:
        """Submit a job of a task, by its name.

        With a `dedupe_key` it is sent again if the server does not answer; without one an
        `Unavailable` means that it may or may not have been created.
        """
        body = {"task": task, **arguments_of(args, kwargs), **job_options(options)}
        request = Request(
            "POST",
            path_of("jobs"),
            body=body_of(body),
            repeatable=options.get("dedupe_key") is not None,
            about=task,
        )
        return _job(await self._exchange.ask(request))

    async def submit_many(
        self,
        task: str,
        calls: Iterable[Sequence[Any] | Mapping[str, Any]],
        **options: Unpack[JobSettings],
    ) -> Sequence[Job]:
        """Submit up to 1,000 jobs, all or none: arguments in order, or by name, for each."""
        chosen = job_options(options)
        jobs = [{"task": task, "args": _call(call), **chosen} for call in calls]
        answer = await self._post(path_of("jobs", "batch"), {"jobs": jobs}, task)
        return [job_of(view) for view in answer.read(list[JobView])]

    async def get(self, job_id: int) -> Job:
        """The job; `UnknownJob` if there is none."""
        return _job(await self._get(path_of("jobs", job_id), about=job_id))

    async def list(
        self, wanted: JobFilter | None = None, page: PageRequest | None = None
    ) -> Page[Job]:
        """A page of the jobs that match the filter, newest first."""
        request = Request("GET", path_of("jobs"), _query(wanted or JobFilter()))
        return await self._page(request, page, JobView, job_of)

    def all(self, wanted: JobFilter | None = None) -> AsyncGenerator[Job]:
        """All jobs that match the filter, newest first, fetched page by page."""
        return every_page(lambda page: self.list(wanted, page))

    async def attempts(self, job_id: int) -> Sequence[AttemptRecord]:
        """The ended attempts of a job, oldest first."""
        answer = await self._get(path_of("jobs", job_id, "attempts"), about=job_id)
        return [attempt_of(view) for view in answer.read(list[AttemptView])]

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        """How many jobs of each queue stand where."""
        answer = await self._get(path_of("queues"))
        queues = [queue_of(view) for view in answer.read(list[QueueView])]
        return {queue.name: queue.counts for queue in queues if queue.counts}

    async def cancel(self, job_id: int, reason: str = "") -> Cancelled | CancelRequested | TooLate:
        """End a waiting job, or ask a running one to end."""
        answer = await self._changed(job_id, "cancel", reason)
        if answer.problem is not None:
            return await self._too_late(job_id)
        cancelled = _job(answer).status is Status.CANCELLED
        return Cancelled(JobId(job_id)) if cancelled else CancelRequested(JobId(job_id))

    async def retry(self, job_id: int, reason: str = "") -> Reopened | TooLate:
        """Queue a failed or cancelled job again, with its attempts counted anew."""
        answer = await self._changed(job_id, "retry", reason)
        if answer.problem is not None:
            return await self._too_late(job_id)
        return Reopened(JobId(job_id))

    async def retry_many(
        self, wanted: JobFilter, *, everything: bool = False, dry_run: bool = False
    ) -> Operation:
        """Queue again all failed and cancelled jobs that match, in the background.

        A filter that restricts nothing needs `everything`. A dry run only counts them.
        """
        operations = Operations(self._exchange)
        return await operations.retry(wanted, everything=everything, dry_run=dry_run)

    async def cancel_many(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Cancel all unfinished jobs that match, in the background, as `retry_many` does."""
        operations = Operations(self._exchange)
        return await operations.cancel_jobs(wanted, reason, everything=everything, dry_run=dry_run)

    async def wait(self, job_id: int, timeout: float | None = None) -> Job:
        """The job once it is finished; `WaitTimeout` if it is not within so many seconds."""
        clock = asyncio.get_running_loop().time
        deadline = None if timeout is None else clock() + timeout
        while True:
            left = LONGEST_WAIT if deadline is None else max(0.0, deadline - clock())
            step = min(LONGEST_WAIT, left)
            request = Request(
                "GET",
                path_of("jobs", job_id, "wait"),
                [("timeout", f"{step:.3f}")],
                longer=step,
                about=job_id,
            )
            answer = await self._exchange.ask(request, (NOT_IN_TIME,))
            if answer.problem is None:
                return _job(answer)
            if deadline is not None and clock() >= deadline:
                raise WaitTimeout(f"job {job_id} did not finish within {timeout:g} s")

    async def result(self, job_id: int, timeout: float | None = None) -> Any:
        """What the job's handler returned, as JSON; `JobFailed` if it failed or was cancelled."""
        job = await self.wait(job_id, timeout)
        if job.status is not Status.COMPLETED:
            raise JobFailed(job.id, job.status, job.error)
        return None if job.result is None else msgspec.json.decode(job.result)

    async def _changed(self, job_id: int, verb: str, reason: str) -> Answer:
        request = Request(
            "POST", path_of("jobs", job_id, verb), body=body_of({"reason": reason}), about=job_id
        )
        return await self._exchange.ask(request, (STATUS,))

    async def _too_late(self, job_id: int) -> TooLate:
        return TooLate(JobId(job_id), (await self.get(job_id)).status)


def _job(answer: Answer) -> Job:
    return job_of(answer.read(JobView))


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
