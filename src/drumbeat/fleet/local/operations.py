"""Operations of the local fleet."""

from __future__ import annotations

from drumbeat.engine.operations import Operations
from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.fault import fault_of
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import InvalidInput, WrongStatus
from drumbeat.model.jobs.job import JobFilter, TooLate
from drumbeat.model.jobs.operation import Kind
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job_filter import filter_view
from drumbeat.wire.operation import OperationView, operation_view


class LocalOperations:
    """Implements `FleetOperations`."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._operations = Operations(services.store, services.submitter, services.runtime.clock)
        self._trail = trail

    async def retry_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> OperationView:
        return await self._start(Kind.RETRY, wanted, reason, everything=everything, dry_run=dry_run)

    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> OperationView:
        return await self._start(
            Kind.CANCEL, wanted, reason, everything=everything, dry_run=dry_run
        )

    async def get(self, operation_id: int) -> OperationView:
        return operation_view(await self._operations.get(operation_id))

    async def list(self, page: PageRequest | None = None) -> Page[OperationView]:
        found = await self._operations.list(page)
        return Page(tuple(operation_view(each) for each in found.items), found.next)

    async def cancel(self, operation_id: int, reason: str = "") -> OperationView:
        async with self._trail.change("operation.cancel", str(operation_id), reason) as because:
            verdict = await self._operations.cancel(operation_id, because)
            if isinstance(verdict, TooLate):
                sentence = f"operation {operation_id} is {verdict.status} already"
                raise WrongStatus(sentence, verdict.status)
            return await self.get(operation_id)

    async def _start(
        self, kind: Kind, wanted: JobFilter, reason: str, *, everything: bool, dry_run: bool
    ) -> OperationView:
        start = self._operations.retry if kind is Kind.RETRY else self._operations.cancel_jobs

        async def begin(because: str) -> OperationView:
            _refuse_everything(wanted, everything=everything)
            with fault_of("filter.status"):
                operation = await start(wanted, because, everything=everything, dry_run=dry_run)
            return operation_view(operation)

        if dry_run:
            return await begin(reason)
        request = {"filter": filter_view(wanted), "all": everything}
        action, target = f"jobs.{kind}", f"/jobs/{kind}"
        async with self._trail.change(action, target, reason, request) as because:
            return await begin(because)


def _refuse_everything(wanted: JobFilter, *, everything: bool) -> None:
    if wanted == JobFilter() and not everything:
        rule = 'a filter restricts something, or there is `"all": true`'
        raise InvalidInput(
            f"the filter restricts nothing, so that every job would be meant; {rule}",
            parameter="filter",
            rule=rule,
        )
