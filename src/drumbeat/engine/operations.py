"""Operations: changes of many jobs, done in the background by the node that leads.

An operation is a job like any other, of a task that every node has built in. So it survives the
death of the node that runs it, it can be looked at, waited for and cancelled, and it is kept as
long as jobs are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from drumbeat.engine.plumbing.finished_hints import finished_hints
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.model.errors import InvalidInput, UnknownOperation
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    LEADER_QUEUE,
    UNFINISHED,
    Cancelled,
    CancelRequested,
    Job,
    JobFilter,
    JobSpec,
    Status,
    TooLate,
)
from drumbeat.model.jobs.operation import Kind, Operation
from drumbeat.model.jobs.retry import Retry
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.text import listed
from drumbeat.model.time.duration import Duration
from drumbeat.model.time.instant import in_range
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.wire.job_filter import JobFilterView, filter_view

TAG = "drumbeat.operation"
"""The tag by which operations are listed."""
TASKS = {Kind.RETRY: "drumbeat.retry_jobs", Kind.CANCEL: "drumbeat.cancel_jobs"}
KINDS = {task: kind for kind, task in TASKS.items()}
ALLOWED = {
    Kind.RETRY: frozenset({Status.FAILED, Status.CANCELLED}),
    Kind.CANCEL: UNFINISHED,
}
"""The statuses that each kind can change."""
RETRY = Retry.linear(10, 5.0)
EVERYTHING = JobFilter()


class OperationOrder(msgspec.Struct, kw_only=True):
    """What an operation is to do: the arguments of its task."""

    filter: JobFilterView
    reason: str = ""
    dry_run: bool = False


class OperationOutcome(msgspec.Struct, kw_only=True):
    """What an operation did: the result of its task."""

    done: int
    total: int | None
    failed: int


class Operations:
    """Operations at run time: begin, get, list, cancel, wait."""

    def __init__(self, store: Store, submitter: Submitter, clock: Clock) -> None:
        self._store = store
        self._submitter = submitter
        self._clock = clock

    async def retry(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Queue again all failed and cancelled jobs that match, in the background."""
        return await self._begin(Kind.RETRY, wanted, reason, everything, dry_run)

    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Cancel all unfinished jobs that match, in the background."""
        return await self._begin(Kind.CANCEL, wanted, reason, everything, dry_run)

    async def get(self, operation_id: int) -> Operation:
        """The operation; `NotFound` if there is none of that id."""
        (job,) = await self._store.jobs.get([JobId(operation_id)])
        if job is None or job.task not in KINDS:
            raise UnknownOperation(operation_id)
        return operation_of_job(job)

    async def list(self, page: PageRequest | None = None) -> Page[Operation]:
        """All operations that are kept, newest first."""
        found = await self._store.jobs.list(JobFilter(tag=TAG), page or PageRequest())
        known = tuple(operation_of_job(job) for job in found.items if job.task in KINDS)
        return Page(known, found.next)

    async def cancel(
        self, operation_id: int, reason: str = ""
    ) -> Cancelled | CancelRequested | TooLate:
        """End an operation; what it has done so far stays done."""
        operation = await self.get(operation_id)
        (verdict,) = await self._store.jobs.cancel([operation.id], reason)
        return verdict

    async def wait(self, operation_id: int, timeout: Duration | None = None) -> Operation:
        """The operation once it has ended; `WaitTimeout` if it has not within this time."""
        what = f"operation {operation_id} did not end"
        async with finished_hints(self._store, self._clock, timeout, what) as next_hint:
            while not (operation := await self.get(operation_id)).status.final:
                await next_hint()
            return operation

    async def _begin(
        self,
        kind: Kind,
        wanted: JobFilter,
        reason: str,
        everything: bool,  # noqa: FBT001 - private
        dry_run: bool,  # noqa: FBT001 - private
    ) -> Operation:
        if wanted == EVERYTHING and not everything:
            raise InvalidInput(
                f"filter restricts nothing, so that every job would be meant: restrict it, or say "
                f"that all are to be {'retried' if kind is Kind.RETRY else 'cancelled'}"
            )
        _check_instants(wanted)
        order = OperationOrder(
            filter=filter_view(narrowed(kind, wanted)), reason=reason, dry_run=dry_run
        )
        spec = JobSpec(
            task=TASKS[kind],
            arguments=msgspec.json.encode({"order": order}),
            queue=LEADER_QUEUE,
            retry=RETRY,
            tags=(TAG,),
        )
        return operation_of_job(await self._submitter.submit(spec))


def _check_instants(wanted: JobFilter) -> None:
    """Refuse now what the store would refuse later, in the background."""
    for field in ("created_from", "created_to"):
        instant = getattr(wanted, field)
        if instant is not None:
            in_range(field, instant)


def narrowed(kind: Kind, wanted: JobFilter) -> JobFilter:
    """The filter, of only those statuses that the operation can change."""
    allowed = ALLOWED[kind]
    if not wanted.statuses:
        return replace(wanted, statuses=allowed)
    if not wanted.statuses <= allowed:
        verb = "retried" if kind is Kind.RETRY else "cancelled"
        names = listed(sorted(status.value for status in allowed))
        raise InvalidInput(f"status: only {names} jobs can be {verb}")
    return wanted


def operation_of_job(job: Job) -> Operation:
    """The job, as the operation that it is."""
    order = _read(job.spec.arguments, _Arguments).order
    outcome = None if job.result is None else _read(job.result, OperationOutcome)
    progress = job.progress
    return Operation(
        id=job.id,
        kind=KINDS[job.task],
        status=job.status,
        wanted=order.filter.filter(),
        created_at=job.created_at,
        reason=order.reason,
        dry_run=order.dry_run,
        done=outcome.done if outcome else int(progress.done) if progress else 0,
        total=outcome.total if outcome else _whole(progress.total) if progress else None,
        failed=outcome.failed if outcome else 0,
        message=progress.message if progress and not outcome else "",
        error=job.error,
        started_at=job.started_at,
        finished_at=job.finished_at,
    )


class _Arguments(msgspec.Struct):
    order: OperationOrder


def _read(text: bytes, kind: type[Any]) -> Any:
    return msgspec.json.decode(text, type=kind)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
