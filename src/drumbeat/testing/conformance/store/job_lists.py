"""Cases: lists and pages of jobs, counts, and unknown tasks."""

from __future__ import annotations

import pytest

from drumbeat.model.errors import InvalidInput
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Job, JobFilter, JobSpec, Status
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    NOON,
    after,
    finish,
    insert,
    insert_one,
    pages,
    running,
    spec,
    take,
    take_one,
    wanted,
)


async def listed(store: Store, wish: JobFilter) -> list[JobId]:
    return [job.id for job in (await store.jobs.list(wish, PageRequest())).items]


class JobListConformance:
    """Jobs are listed newest first, page by page, by every field of a filter."""

    async def test_jobs_are_found_by_id_in_the_order_asked_for(self, store: Store) -> None:
        a, b = await insert(store, spec(), spec())
        assert list(await store.jobs.get([b.id, JobId(10**9), a.id])) == [b, None, a]

    async def test_the_newest_come_first(self, store: Store) -> None:
        jobs = [await insert_one(store, spec(), at=after(number)) for number in range(4)]
        assert await listed(store, JobFilter()) == [job.id for job in reversed(jobs)]

    async def test_pages_of_jobs_neither_repeat_nor_miss_any(self, store: Store) -> None:
        jobs = await insert(store, *[spec()] * 7)
        seen: list[Job] = []
        async for page in pages(lambda request: store.jobs.list(JobFilter(), request), size=3):
            seen += page.items
            await insert_one(store, spec())  # new jobs do not move the pages
        assert seen == jobs[::-1]

    async def test_a_full_last_page_of_jobs_knows_that_it_is_the_last(self, store: Store) -> None:
        await insert(store, JobSpec("other"), spec(), spec())
        page = await store.jobs.list(JobFilter(task="send"), PageRequest(size=2))
        assert (len(page.items), page.next) == (2, None)

    async def test_jobs_are_filtered_by_each_field(self, store: Store) -> None:
        plain = await insert_one(store, spec())
        special = await insert_one(
            store,
            JobSpec("report", queue="slow", schedule="nightly", tags=("red", "blue")),
            at=after(60),
        )
        for wish in (
            JobFilter(task="report"),
            JobFilter(queue="slow"),
            JobFilter(schedule="nightly"),
            JobFilter(tag="red"),
            JobFilter(tag="blue"),
            JobFilter(created_from=after(60)),
            JobFilter(task="report", queue="slow", tag="red"),
        ):
            assert await listed(store, wish) == [special.id], wish
        assert await listed(store, JobFilter(created_to=after(60))) == [plain.id]
        assert await listed(store, JobFilter(tag="re")) == []
        assert await listed(store, JobFilter(task="report", queue="default")) == []

    async def test_jobs_are_filtered_by_status(self, store: Store) -> None:
        done = await running(store)
        await finish(store, done.hold)
        active = await running(store)
        pending, queued = await insert(store, JobSpec("send", run_at=after(60)), spec())
        cancelled = await insert_one(store, spec())
        await store.jobs.cancel([cancelled.id])
        expected = {
            Status.COMPLETED: done.job_id,
            Status.RUNNING: active.job_id,
            Status.PENDING: pending.id,
            Status.QUEUED: queued.id,
            Status.CANCELLED: cancelled.id,
        }
        for status, job_id in expected.items():
            assert await listed(store, JobFilter(frozenset({status}))) == [job_id]
        both = JobFilter(frozenset({Status.PENDING, Status.RUNNING}))
        assert await listed(store, both) == [pending.id, active.job_id]
        assert await listed(store, JobFilter(frozenset({Status.FAILED}))) == []

    async def test_a_place_that_no_page_of_jobs_gave_out_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.jobs.list(JobFilter(), PageRequest(after="no such place"))


class CountsConformance:
    """Jobs are counted by status, and tasks that no node knows are found."""

    async def test_an_empty_store_counts_nothing(self, store: Store) -> None:
        counts = await store.jobs.counts()
        assert sum(sum(queue.values()) for queue in counts.values()) == 0

    async def test_jobs_are_counted_by_queue_and_status(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", queue="mail")] * 2)
        await insert(store, *[spec()] * 3, JobSpec("other"), JobSpec("send", run_at=after(60)))
        first, _ = await take(store, wanted(limit=2))
        await finish(store, first.hold)
        counts = {
            queue: {status: count for status, count in statuses.items() if count}
            for queue, statuses in (await store.jobs.counts()).items()
        }
        assert counts == {
            "mail": {Status.QUEUED: 2},
            "default": {
                Status.PENDING: 1,
                Status.QUEUED: 2,
                Status.RUNNING: 1,
                Status.COMPLETED: 1,
            },
        }

    async def test_tasks_that_wait_and_are_not_known_are_named(self, store: Store) -> None:
        await insert(store, spec(), *[JobSpec("zeta")] * 2, JobSpec("eta"))
        await insert(store, JobSpec("elsewhere", queue="mail"))
        await insert(store, JobSpec("not yet", run_at=after(60)))
        names = await store.jobs.unknown_tasks(["default"], frozenset({"send"}), 10)
        assert sorted(names) == ["eta", "zeta"]
        assert len(await store.jobs.unknown_tasks(["default"], frozenset({"send"}), 1)) == 1
        everywhere = await store.jobs.unknown_tasks(["default", "mail"], frozenset(), 10)
        assert sorted(everywhere) == ["elsewhere", "eta", "send", "zeta"]

    async def test_a_task_that_waits_no_more_is_not_named(self, store: Store) -> None:
        await insert_one(store, spec())
        await take_one(store, at=NOON)
        assert list(await store.jobs.unknown_tasks(["default"], frozenset(), 10)) == []
