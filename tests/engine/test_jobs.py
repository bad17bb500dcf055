"""Jobs at run time: cancel, retry, wait, results, delays, dedupe."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat import Context, Drumbeat, JobFailed, JobFilter, Retry, Status, WaitTimeout
from drumbeat.model.errors import InvalidOption, UnknownJob, UnknownTask
from drumbeat.model.jobs.job import Cancelled, CancelRequested, JobSpec, Reopened, TooLate
from drumbeat.testing.clock import FakeClock

from .support.fleet import Fault, Fleet


async def test_a_waiting_job_is_cancelled_at_once_and_never_runs(
    fleet: Fleet, app: Drumbeat
) -> None:
    ran: list[str] = []

    @app.task
    async def work(name: str) -> None:
        ran.append(name)

    pending = await work.options(delay=60).submit("pending")
    queued = await work.submit("queued")
    assert (pending.status, queued.status) == (Status.PENDING, Status.QUEUED)
    for job in (pending, queued):
        assert isinstance(await app.jobs.cancel(job.id, "not needed"), Cancelled)
        cancelled = await app.jobs.get(job.id)
        assert (cancelled.status, cancelled.error) == (Status.CANCELLED, "not needed")
    async with fleet.running(app):
        await fleet.clock.advance("5m")
    assert ran == []


@pytest.mark.parametrize("finishes", [True, False])
async def test_a_running_job_is_told_at_once_and_may_end_by_itself(
    fleet: Fleet, app: Drumbeat, clock: FakeClock, *, finishes: bool
) -> None:
    told: list[tuple[float, str | None]] = []

    @app.task
    async def work(ctx: Context) -> str:
        await ctx.cancelled.wait()
        told.append((clock.elapsed(), ctx.cancelled.reason))
        if finishes:
            ctx.finished()
        return "stopped in good order"

    async with fleet.running(app):
        job = await work.submit()
        await clock.advance(1)
        assert isinstance(await app.jobs.cancel(job.id), CancelRequested)
        assert (await app.jobs.get(job.id)).cancel_requested
        done = await fleet.done(app, job, "1s")
        assert told == [(1.0, "cancelled")]  # by the hint, long before the next heartbeat
        expected = (Status.COMPLETED, "stopped in good order")
        assert (done.status, work.result(done)) == (
            expected if finishes else (Status.CANCELLED, None)
        )


@pytest.mark.parametrize(("listens", "seconds"), [(True, 5.0), (False, 0.0)])
async def test_a_running_job_is_cancelled_at_once_or_after_the_grace_if_it_listens(
    fleet: Fleet, app: Drumbeat, clock: FakeClock, *, listens: bool, seconds: float
) -> None:
    ended: list[float] = []

    @app.task(retry=Retry.linear(max_retries=3, delay=0))
    async def work(ctx: Context) -> None:
        assert not (listens and ctx.cancelled)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(clock.elapsed())

    async with fleet.running(app):
        job = await work.submit()
        await clock.settle()
        await app.jobs.cancel(job.id, "wrong customer")
        done = await fleet.done(app, job, "1m")
        assert (done.status, ended) == (Status.CANCELLED, [seconds])


async def test_a_job_whose_cancellation_was_asked_for_is_not_retried(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.linear(max_retries=3, delay=0))
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        raise RuntimeError("interrupted")

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await app.jobs.cancel(job.id)
        done = await fleet.done(app, job, "1m")
        assert (done.status, done.attempt) == (Status.CANCELLED, 1)


async def test_a_cancellation_is_seen_with_the_next_heartbeat_if_no_hint_comes(
    fleet: Fleet, clock: FakeClock
) -> None:
    app = fleet.app(heartbeat_every=5)
    told: list[float] = []

    @app.task
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        told.append(clock.elapsed())

    fleet.store.subscribe = lambda *_: lambda: None  # type: ignore[method-assign]
    job = await work.submit()
    async with fleet.running(app):
        await clock.advance(1)
        await app.jobs.cancel(job.id)
        await clock.advance(10)
        assert told == [5.0]


async def test_a_finished_job_cannot_be_cancelled_and_only_failed_ones_are_retried(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def work() -> None: ...

    async with fleet.running(app):
        job = await fleet.done(app, await work.submit())
        for verdict in (await app.jobs.cancel(job.id), await app.jobs.retry(job.id)):
            assert isinstance(verdict, TooLate)
            assert verdict.status is Status.COMPLETED


async def test_a_failed_job_is_retried_by_hand_with_its_attempts_counted_anew(
    fleet: Fleet, app: Drumbeat
) -> None:
    broken = True
    fences: list[int] = []

    @app.task(retry=Retry.linear(max_retries=1, delay=0))
    async def work(ctx: Context) -> int:
        fences.append(ctx.fence)
        if broken:
            raise RuntimeError("broken")
        return ctx.number

    async with fleet.running(app):
        job = await work.submit()
        assert (await fleet.done(app, job)).status is Status.FAILED
        with pytest.raises(JobFailed, match=rf"job {job.id} failed: [\s\S]*broken") as failed:
            await app.jobs.result(job.id)
        assert (failed.value.job_id, failed.value.status) == (job.id, "failed")
        broken = False
        assert isinstance(await app.jobs.retry(job.id), Reopened)
        done = await fleet.done(app, job)
        assert (done.status, work.result(done), done.error) == (Status.COMPLETED, 1, None)
        assert fences == [1, 2, 3]


async def test_a_cancelled_job_is_retried_by_hand(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    job = await work.options(delay=3600).submit()
    await app.jobs.cancel(job.id)
    async with fleet.running(app):
        with pytest.raises(JobFailed, match="cancelled"):
            await app.jobs.result(job.id)
        await app.jobs.retry(job.id)
        assert (await fleet.done(app, job, "1s")).status is Status.COMPLETED


async def test_unknown_jobs_and_tasks_are_named(app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    for call in (
        app.jobs.get(404),
        app.jobs.wait(404),
        app.jobs.result(404),
        app.jobs.cancel(404),
        app.jobs.retry(404),
    ):
        with pytest.raises(UnknownJob, match="404"):
            await call
    with pytest.raises(UnknownTask, match=r"no task is named 'wrok'; registered here: work"):
        await app.jobs.submit("wrok")


async def test_waiting_ends_in_time(fleet: Fleet, app: Drumbeat, clock: FakeClock) -> None:
    @app.task
    async def work() -> None: ...

    job = await work.options(delay=3600).submit()
    with pytest.raises(WaitTimeout, match=f"job {job.id} did not finish within 5 s"):
        await clock.until(app.jobs.wait(job.id, 5))
    assert clock.elapsed() == 5
    with pytest.raises(WaitTimeout, match="idle within 5 s"):
        await clock.until(app.wait_until_idle(5))


async def test_a_time_out_is_told_even_to_a_task_that_once_swallowed_a_cancellation(
    app: Drumbeat, clock: FakeClock
) -> None:
    @app.task
    async def work() -> None: ...

    job = await work.options(delay=3600).submit()

    async def deaf() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            await app.jobs.wait(job.id, 5)
        except WaitTimeout:
            return "timed out"
        return "finished"

    task = asyncio.ensure_future(deaf())
    await clock.settle()
    task.cancel()
    assert await clock.until(asyncio.wait_for(task, None)) == "timed out"


async def test_a_wait_that_is_cancelled_from_outside_is_cancelled(
    app: Drumbeat, clock: FakeClock
) -> None:
    @app.task
    async def work() -> None: ...

    job = await work.options(delay=3600).submit()
    waiting = asyncio.ensure_future(app.jobs.wait(job.id, 5))
    await clock.settle()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_waiters_on_every_node_hear_of_the_end(fleet: Fleet) -> None:
    apps = [fleet.app(), fleet.app()]

    @apps[0].task
    async def work() -> int:
        await fleet.clock.sleep(10)
        return 7

    async with fleet.running(*apps):
        job = await work.submit()
        waits = [asyncio.ensure_future(app.jobs.wait(job.id)) for app in apps for _ in range(3)]
        await fleet.clock.advance(10)
        assert {(await wait).result for wait in waits} == {b"7"}


async def test_a_delayed_job_runs_at_its_time_and_not_before(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    ran: list[tuple[str, float]] = []

    @app.task
    async def work(name: str) -> None:
        ran.append((name, clock.elapsed()))

    async with fleet.running(app):
        await work.options(delay=3600).submit("delayed")
        await work.options(run_at=clock.now() + timedelta(minutes=30)).submit("appointed")
        await work.options(run_at=clock.now() - timedelta(days=1)).submit("past")
        await clock.advance("2h")
        assert [name for name, _ in ran] == ["past", "appointed", "delayed"]
        assert [at for _, at in ran] == pytest.approx([0, 1800, 3600], abs=0.01)


async def test_a_known_dedupe_key_returns_the_existing_job(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    @app.task
    async def work(number: int) -> int:
        return number

    keyed = work.options(dedupe_key="r-42", dedupe_for=60)
    async with fleet.running(app):
        first = await keyed.submit(1)
        again = await keyed.submit(2)
        assert again.id == first.id
        assert work.result(await fleet.done(app, first, "1s")) == 1
        assert (await keyed.submit(3)).id == first.id
        await clock.advance(61)
        assert (await keyed.submit(4)).id != first.id


async def test_a_dedupe_key_stands_for_a_year_at_most(app: Drumbeat) -> None:
    too_long = JobSpec("elsewhere", dedupe_key="r-42", dedupe_for=timedelta(days=365, seconds=1))
    with pytest.raises(InvalidOption, match="dedupe_for must be at most 365 days"):
        await app.submit(too_long)
    await app.submit(replace(too_long, dedupe_for=timedelta(days=365)))


async def test_jobs_are_listed_and_counted(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(tags=("nightly",))
    async def work() -> None: ...

    job = await work.submit()
    await work.options(delay=60, tags=()).submit()
    listed = await app.jobs.list(JobFilter(tag="nightly"))
    assert [each.id for each in listed.items] == [job.id]
    assert (await app.jobs.counts())["default"][Status.PENDING] == 1


async def test_results_come_back_as_annotated_and_from_the_registry(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def pair() -> tuple[int, timedelta]:
        return (1, timedelta(seconds=3))

    async with fleet.running(app):
        job = await fleet.done(app, await pair.submit())
        assert await app.jobs.result(job.id) == (1, timedelta(seconds=3))


async def test_a_store_that_fails_is_told_to_whoever_waits(app: Drumbeat, fleet: Fleet) -> None:
    @app.task
    async def work() -> None: ...

    job = await work.submit()
    fault = Fault(fleet.store.jobs, "get").before()
    with pytest.raises(ConnectionError, match="injected"):
        await app.jobs.wait(job.id, 5)
    assert len(fault.calls) == 1
