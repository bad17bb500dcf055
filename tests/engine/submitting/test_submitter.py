"""The submitter: many callers, few writes, and nobody left waiting."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime

import pytest

from drumbeat import Drumbeat, Job, Unavailable
from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.submitting.submitter import LARGEST_BATCH, WORTH_SHARING, Submitter
from drumbeat.model.errors import NaiveDatetime
from drumbeat.model.events import JobSubmitted
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import PATIENCE, Fault, Fleet, Heard


@pytest.fixture
def insert(fleet: Fleet) -> Fault:
    return Fault(fleet.store.jobs, "insert")


def sizes(insert: Fault) -> list[int]:
    return [len(call[0]) for call in insert.calls]


@pytest.fixture
async def submitter(fleet: Fleet) -> Submitter:
    return Submitter(fleet.store, MemoryQueue(fleet.clock), Bus(fleet.clock))


async def submit(submitter: Submitter, *specs: JobSpec) -> list[Job | BaseException]:
    return await asyncio.gather(*(submitter.submit(spec) for spec in specs), return_exceptions=True)


async def test_a_lone_caller_waits_for_nobody(insert: Fault, submitter: Submitter) -> None:
    job = await submitter.submit(JobSpec("work"))
    assert job.id == 1
    assert sizes(insert) == [1]


async def test_what_is_submitted_while_a_write_is_under_way_becomes_one_write(
    insert: Fault, submitter: Submitter, clock: FakeClock
) -> None:
    insert.hang()
    first = asyncio.ensure_future(submitter.submit(JobSpec("first")))
    await insert.hanging.wait()
    others = asyncio.ensure_future(submit(submitter, *(JobSpec(f"{n}") for n in range(50))))
    for _ in range(3):
        await clock.sleep(0)
    insert.heal()
    jobs = await others
    assert [job.task for job in jobs if isinstance(job, Job)] == [f"{n}" for n in range(50)]
    assert (await first).task == "first"
    assert sizes(insert) == [1, 50]


async def test_a_batch_has_a_bound(insert: Fault, submitter: Submitter) -> None:
    jobs = await submit(submitter, *(JobSpec("work") for _ in range(2 * LARGEST_BATCH + 5)))
    assert all(isinstance(job, Job) for job in jobs)
    assert sizes(insert) == [LARGEST_BATCH, LARGEST_BATCH, 5]


async def test_what_has_gathered_is_shared_out_among_the_writers_of_the_store(
    fleet: Fleet, insert: Fault, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet.store, "writers", 2)
    submitter = Submitter(fleet.store, MemoryQueue(clock), Bus(clock))
    insert.hang(2)
    callers = [asyncio.ensure_future(submitter.submit(JobSpec("work"))) for _ in range(101)]
    for _ in range(3):
        await clock.sleep(0)
    assert sizes(insert) == [51, 50]
    insert.heal()
    await asyncio.gather(*callers)
    assert sizes(insert) == [51, 50]


async def test_a_few_jobs_are_written_together(
    fleet: Fleet, insert: Fault, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet.store, "writers", 2)
    submitter = Submitter(fleet.store, MemoryQueue(clock), Bus(clock))
    await submit(submitter, *(JobSpec("work") for _ in range(WORTH_SHARING - 1)))
    assert sizes(insert) == [WORTH_SHARING - 1]


async def test_one_bad_spec_does_not_harm_the_others(
    app: Drumbeat, insert: Fault, submitter: Submitter
) -> None:
    bad = JobSpec("bad", run_at=datetime(2030, 1, 1))
    jobs = await submit(submitter, JobSpec("a"), bad, JobSpec("b"))
    assert [getattr(job, "task", None) for job in jobs] == ["a", None, "b"]
    assert isinstance(jobs[1], NaiveDatetime)
    assert sizes(insert) == [3, 1, 1, 1]
    assert (await app.jobs.counts())["default"].get("queued") == 2  # type: ignore[call-overload]


async def test_a_cancelled_caller_does_not_lose_the_batch(
    app: Drumbeat, insert: Fault, submitter: Submitter, clock: FakeClock
) -> None:
    insert.hang()
    first = asyncio.ensure_future(submitter.submit(JobSpec("first")))
    await insert.hanging.wait()
    second = asyncio.ensure_future(submitter.submit(JobSpec("second")))
    third = asyncio.ensure_future(submitter.submit(JobSpec("third")))
    await clock.sleep(0)
    first.cancel()
    second.cancel()
    await asyncio.wait([first, second])
    insert.heal()
    assert (await third).task == "third"
    await submitter.close()
    listed = await app.jobs.list()
    assert [job.task for job in listed.items] == ["third", "second", "first"]


async def test_a_store_that_does_not_answer_is_told_to_every_caller_and_not_asked_again(
    app: Drumbeat, insert: Fault, submitter: Submitter
) -> None:
    """What was asked may have happened: writing each by itself could make jobs twice."""
    insert.after()
    answers = await submit(submitter, JobSpec("a"), JobSpec("b"), JobSpec("c"))
    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert sizes(insert) == [3]
    assert len((await app.jobs.list()).items) == 3
    assert (await submitter.submit(JobSpec("d"))).task == "d"


async def test_many_are_submitted_in_whole_batches(app: Drumbeat, insert: Fault) -> None:
    @app.task
    async def work(number: int) -> None: ...

    jobs = await work.submit_many([(n,) for n in range(LARGEST_BATCH + 1)])
    assert [job.id for job in jobs] == list(range(1, LARGEST_BATCH + 2))
    assert sizes(insert) == [LARGEST_BATCH, 1]
    assert await work.submit_many([]) == []


async def test_equal_dedupe_keys_in_one_batch_make_one_job(app: Drumbeat) -> None:
    heard = Heard(app)

    @app.task(dedupe_key="once")
    async def work(number: int) -> None: ...

    jobs = await asyncio.gather(*(work.submit(number) for number in range(5)))
    assert {job.id for job in jobs} == {1}
    assert [event.duplicate for event in heard.of(JobSubmitted)] == [False] + [True] * 4


async def test_two_event_loops_never_wait_for_each_others_batches() -> None:
    """Producers may submit from the loops of several threads at once."""
    app = Drumbeat("memory://")

    @app.task
    async def work(number: int) -> None: ...

    async def produce() -> int:
        jobs = [await work.submit(number) for number in range(300)]
        return len({job.id for job in jobs})

    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(asyncio.run(produce()))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    async with asyncio.timeout(PATIENCE):
        counts.append(await produce())
        for thread in threads:
            await asyncio.to_thread(thread.join)
    assert counts == [300] * 3
    assert (await app.jobs.list()).items[0].id == 900


class TwoWriters(MemoryStore):
    """A store that says of itself that it can work on two writes at once."""

    writers = 2


@pytest.fixture
async def two(clock: FakeClock) -> TwoWriters:
    return TwoWriters(clock)


@pytest.fixture
async def twofold(two: TwoWriters, clock: FakeClock) -> Submitter:
    return Submitter(two, MemoryQueue(clock), Bus(clock))


async def test_a_store_with_two_writers_gets_two_batches_at_once_and_never_three(
    two: TwoWriters, twofold: Submitter, clock: FakeClock
) -> None:
    insert = Fault(two.jobs, "insert").hang(times=2)
    waiting: list[asyncio.Future[Job]] = []
    for task in ("first", "second", "third", "fourth"):
        waiting.append(asyncio.ensure_future(twofold.submit(JobSpec(task))))
        await clock.settle()
    assert sizes(insert) == [1, 1]
    insert.heal()
    jobs = await asyncio.gather(*waiting)
    assert [job.task for job in jobs] == ["first", "second", "third", "fourth"]
    assert sizes(insert) == [1, 1, 2]
    await twofold.close()


async def test_what_comes_at_the_same_moment_is_one_batch_for_two_writers_too(
    two: TwoWriters, twofold: Submitter
) -> None:
    insert = Fault(two.jobs, "insert")
    await submit(twofold, *(JobSpec("work") for _ in range(50)))
    assert sizes(insert) == [50]


async def test_two_writers_share_what_is_more_than_one_batch(
    two: TwoWriters, twofold: Submitter, clock: FakeClock
) -> None:
    insert = Fault(two.jobs, "insert").always("hang")
    many = asyncio.ensure_future(submit(twofold, *[JobSpec("work")] * (2 * LARGEST_BATCH + 5)))
    await clock.settle()
    assert sizes(insert) == [LARGEST_BATCH, LARGEST_BATCH]
    insert.heal()
    assert all(isinstance(job, Job) for job in await many)
    assert sizes(insert) == [LARGEST_BATCH, LARGEST_BATCH, 5]


async def test_the_jobs_of_a_caller_who_awaits_each_keep_their_order_whatever_others_do(
    two: TwoWriters, twofold: Submitter
) -> None:
    async def call() -> list[int]:
        return [(await twofold.submit(JobSpec("work"))).id for _ in range(50)]

    for ids in await asyncio.gather(*(call() for _ in range(5))):
        assert ids == sorted(ids)


async def test_close_waits_for_every_writer(
    two: TwoWriters, twofold: Submitter, clock: FakeClock
) -> None:
    insert = Fault(two.jobs, "insert").hang(times=2)
    for task in ("first", "second"):
        asyncio.ensure_future(twofold.submit(JobSpec(task))).add_done_callback(lambda _: None)
        await clock.settle()
    closing = asyncio.ensure_future(twofold.close())
    await clock.settle()
    assert not closing.done()
    insert.heal()
    await closing
    assert None not in await two.jobs.get([JobId(1), JobId(2)])
