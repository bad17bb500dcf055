"""Inline mode: what is submitted has been run when `submit` returns."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.app import Drumbeat
from drumbeat.model.errors import JobFailed
from drumbeat.model.jobs.job import Job, JobSpec, Status
from drumbeat.testing import inside
from drumbeat.testing.hand import Hand, Worked


@contextmanager
def inline(app: Drumbeat, *, raises: bool = False) -> Generator[None]:
    """Run each job as soon as it is submitted, while its submitter waits.

    ```python
    with inline(app):
        job = await send_receipt.submit(42)
    assert job.status is Status.COMPLETED
    ```
    A job gets one attempt: an error fails it, whatever its retries are. With `raises` the error
    comes out of `submit` as well. Jobs that a handler submits are run inline too. A job whose time
    has not come stays pending, and one whose limit is reached stays queued.
    """
    hand = Hand(app)
    submitter = inside.submitter(app)
    submit, submit_many = submitter.submit, submitter.submit_many

    async def submit_inline(spec: JobSpec) -> Job:
        return await _see_through(app, hand, await submit(spec), raises=raises)

    async def submit_many_inline(specs: Sequence[JobSpec]) -> list[Job]:
        jobs = await submit_many(specs)
        return [await _see_through(app, hand, job, raises=raises) for job in jobs]

    with (
        patch.object(submitter, "submit", submit_inline),
        patch.object(submitter, "submit_many", submit_many_inline),
    ):
        yield


async def _see_through(app: Drumbeat, hand: Hand, job: Job, *, raises: bool) -> Job:
    """Run the job, after those of the same task that stand in front of it, and look it up again."""
    worked: Worked | None = None
    while job.status is Status.QUEUED:
        taken = await hand.take([job.spec.queue], frozenset({job.task}))
        for attempt in taken.attempts:
            worked = await hand.work_once(attempt)
        job = await app.jobs.get(job.id)
        if not (taken.attempts or taken.cancelled or taken.expired):
            break  # a limit or a rate keeps it from running
    if raises and job.status is Status.FAILED:
        raise (worked.error if worked else None) or JobFailed(job.id, job.status, job.error)
    return job
