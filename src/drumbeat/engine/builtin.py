"""Built-in tasks: what every node can run without being told how.

Each is idempotent: a run that was cut short is begun anew, and what it had done is not done twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from drumbeat.engine.context import Context
from drumbeat.engine.operations import TASKS, Order, Outcome
from drumbeat.engine.task import BUILT_IN, TaskDefinition, TaskOptions, define
from drumbeat.model.job import Job, JobFilter, TooLate
from drumbeat.model.operation import Kind
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.ports.store import JobStore, Store

BATCH = 500
"""Jobs that are changed in one step."""
COUNTED = 100_000
"""Jobs that are counted before they are changed; of more the total is not told."""


def built_in(store: Store) -> Sequence[TaskDefinition]:
    """The tasks that every node knows."""

    async def retry_jobs(ctx: Context, order: Order) -> Outcome:
        """Queue failed and cancelled jobs again."""
        return await _Sweep(store.jobs, Kind.RETRY, order, ctx).run()

    async def cancel_jobs(ctx: Context, order: Order) -> Outcome:
        """Cancel unfinished jobs."""
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
    order: Order
    ctx: Context

    async def run(self) -> Outcome:
        total = await self._count()
        if self.order.dry_run:
            assert total is not None, "a dry run counts all"
            return Outcome(done=total, total=total, failed=0)
        done = failed = 0
        async for batch in self._batches(BATCH):
            refused = await self._change(batch)
            failed += refused
            done += len(batch) - refused
            self.ctx.progress(done, total, f"{failed:,} had changed before" if failed else "")
        return Outcome(done=done, total=total, failed=failed)

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
        """How many of them could not be changed any more."""
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
    """Whether an operation may touch the job: no operation, and nothing that ended after its start.

    A job that an earlier run of the same operation has retried, and that failed again, stays as it
    is: it was retried once, as was asked for.
    """
    if job.task.startswith(BUILT_IN):
        return False
    return job.finished_at is None or job.finished_at <= begun
