"""Built-in tasks, which every node can run.

Each is idempotent: an interrupted run starts again, and does nothing twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from drumbeat.engine.operations import TASKS, OperationOrder, OperationOutcome
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.task import BUILT_IN, TaskDefinition, define
from drumbeat.model.jobs.job import Job, JobFilter, TooLate
from drumbeat.model.jobs.operation import Kind
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.ports.store import JobStore, Store

BATCH = 500
"""Jobs that are changed in one step."""
COUNTED = 100_000
"""Jobs that are counted before they are changed; beyond this the total is unknown."""


def built_in(store: Store) -> Sequence[TaskDefinition]:

    async def retry_jobs(ctx: Context, order: OperationOrder) -> OperationOutcome:
        return await _Sweep(store.jobs, Kind.RETRY, order, ctx).run()

    async def cancel_jobs(ctx: Context, order: OperationOrder) -> OperationOutcome:
        return await _Sweep(store.jobs, Kind.CANCEL, order, ctx).run()

    return (
        define(retry_jobs, TASKS[Kind.RETRY], TaskOptions()),
        define(cancel_jobs, TASKS[Kind.CANCEL], TaskOptions()),
    )


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One walk over all jobs that an operation means, from the newest to the oldest."""

    jobs: JobStore
    kind: Kind
    order: OperationOrder
    ctx: Context

    async def run(self) -> OperationOutcome:
        total = await self._count()
        if self.order.dry_run:
            assert total is not None, "a dry run counts all"
            return OperationOutcome(done=total, total=total, failed=0)
        done = failed = 0
        async for batch in self._batches(BATCH):
            refused = await self._change(batch)
            failed += refused
            done += len(batch) - refused
            self.ctx.progress(done, total, f"{failed:,} had changed before" if failed else "")
        return OperationOutcome(done=done, total=total, failed=failed)

    async def _count(self) -> int | None:
        count = 0
        async for batch in self._batches(LARGEST_PAGE):
            count += len(batch)
            if self.order.dry_run:
                self.ctx.progress(count, None, "counting")
            elif count > COUNTED:
                return None
        return count

    async def _change(self, batch: Sequence[Job]) -> int:
        """Change the jobs; return how many could not be changed any more."""
        ids = [job.id for job in batch]
        verdicts = await (
            self.jobs.reopen(ids)
            if self.kind is Kind.RETRY
            else self.jobs.cancel(ids, self.order.reason)
        )
        return sum(isinstance(verdict, TooLate) for verdict in verdicts)

    async def _batches(self, size: int) -> AsyncIterator[Sequence[Job]]:
        wanted: JobFilter = self.order.filter.filter()
        begun: datetime = self.ctx.attempt.created_at
        after: str | None = None
        while True:
            page = await self.jobs.list(wanted, PageRequest(size, after))
            batch = [job for job in page.items if _meant(job, begun)]
            if batch:
                yield batch
            after = page.next
            if after is None:
                return


def _meant(job: Job, begun: datetime) -> bool:
    """Whether an operation may change the job: no operation, and nothing that ended after it began.

    A job that an earlier run of the same operation retried, and that failed again, is left alone:
    it was retried once, as asked.
    """
    if job.task.startswith(BUILT_IN):
        return False
    return job.finished_at is None or job.finished_at <= begun
