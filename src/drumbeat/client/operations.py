"""Operations on many jobs, asked of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from drumbeat.client.asking import Noun
from drumbeat.client.request import Request, body_of, path_of
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.ids import JobId
from drumbeat.model.job import Cancelled, CancelRequested, JobFilter, Status, TooLate
from drumbeat.model.operation import Operation
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.job_filter import filter_view
from drumbeat.wire.operation import OperationView, operation_of

LONGEST_WAIT = 25.0
"""Seconds that one request waits; a longer wait is several."""


class Operations(Noun):
    """What can be asked of changes of many jobs, which the leading node makes."""

    async def retry(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Queue again all failed and cancelled jobs that match, in the background."""
        order = {"reason": reason, "all": everything, "dry_run": dry_run}
        return await self._begin("retry", wanted, order)

    async def cancel_jobs(
        self,
        wanted: JobFilter,
        reason: str = "",
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Operation:
        """Cancel all unfinished jobs that match, in the background."""
        order = {"reason": reason, "all": everything, "dry_run": dry_run}
        return await self._begin("cancel", wanted, order)

    async def get(self, operation_id: int) -> Operation:
        """The operation; `NotFound` if there is none of that id."""
        answer = await self._get(path_of("operations", operation_id), about=operation_id)
        return operation_of(answer.read(OperationView))

    async def list(self, page: PageRequest | None = None) -> Page[Operation]:
        """A page of the operations that are kept, newest first."""
        request = Request("GET", path_of("operations"))
        return await self._page(request, page, OperationView, operation_of)

    async def cancel(
        self, operation_id: int, reason: str = ""
    ) -> Cancelled | CancelRequested | TooLate:
        """End an operation; what it has done so far stays done."""
        path = path_of("operations", operation_id, "cancel")
        request = Request("POST", path, body=body_of({"reason": reason}), about=operation_id)
        answer = await self._exchange.ask(request, ("status",))
        number = JobId(operation_id)
        if answer.problem is not None:
            return TooLate(number, (await self.get(operation_id)).status)
        ended = answer.read(OperationView).status is Status.CANCELLED
        return Cancelled(number) if ended else CancelRequested(number)

    async def wait(self, operation_id: int, timeout: float | None = None) -> Operation:
        """The operation once it has ended; `WaitTimeout` if it has not within so many seconds."""
        clock = asyncio.get_running_loop().time
        deadline = None if timeout is None else clock() + timeout
        while not (operation := await self.get(operation_id)).status.final:
            left = LONGEST_WAIT if deadline is None else deadline - clock()
            if left <= 0:
                raise WaitTimeout(f"operation {operation_id} has not ended in {timeout:g} s")
            step = min(LONGEST_WAIT, left)
            request = Request(
                "GET",
                path_of("jobs", operation_id, "wait"),
                [("timeout", f"{step:.3f}")],
                longer=step,
                about=operation_id,
            )
            await self._exchange.ask(request, ("not-in-time",))
        return operation

    async def _begin(self, verb: str, wanted: JobFilter, order: Mapping[str, object]) -> Operation:
        answer = await self._post(path_of("jobs", verb), {"filter": filter_view(wanted), **order})
        return operation_of(answer.read(OperationView))
