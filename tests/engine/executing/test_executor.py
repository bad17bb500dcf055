"""How an attempt can end, and what becomes of its job and of its slot."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

import pytest

from drumbeat import Cancel, Context, Drumbeat, Retry, Snooze, Status
from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.executing.run import Run
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.task import define
from drumbeat.model.events import ResultDropped, ServiceFailed
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import RESULT_LIMIT, Attempt, Change, Hold, JobSpec
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import Fleet, Heard


async def test_what_a_handler_returns_is_the_result_of_its_job(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def double(number: int) -> int:
        return 2 * number

    async with fleet.running(app):
        job = await fleet.done(app, await double.submit(21))
        assert job.status is Status.COMPLETED
        assert double.result(job) == 42
        assert await app.jobs.result(job.id) == 42
        assert job.attempt == 1
        assert job.started_at is not None
        assert job.finished_at is not None


async def test_a_synchronous_handler_runs_in_a_thread(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    def where() -> str:
        return threading.current_thread().name

    async with fleet.running(app):
        job = await fleet.done(app, await where.submit())
        assert where.result(job).startswith("drumbeat-handler")


async def test_a_job_that_raises_is_retried_after_its_delay_and_fails_after_its_last_attempt(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    started: list[float] = []

    @app.task(retry=Retry.linear(max_retries=2, delay=60))
    async def fail(ctx: Context) -> None:
        started.append(clock.elapsed())
        raise RuntimeError(f"boom {ctx.number}")

    async with fleet.running(app):
        job = await fail.submit()
        await clock.settle()
        waiting = await app.jobs.get(job.id)
        assert (waiting.status, waiting.attempt) == (Status.PENDING, 1)
        assert "boom 1" in (waiting.error or "")

        failed = await fleet.done(app, job)
        assert started == pytest.approx([0, 60, 120], abs=0.1)
        assert (failed.status, failed.attempt) == (Status.FAILED, 3)
        assert "RuntimeError: boom 3" in (failed.error or "")
        changes = [attempt.change for attempt in await app.jobs.attempts(job.id)]
        assert changes == [Change.RETRY, Change.RETRY, Change.FAIL]


async def test_a_job_that_succeeds_at_its_second_attempt_is_completed(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.linear(max_retries=1, delay=1))
    async def flaky(ctx: Context) -> int:
        if ctx.number == 1:
            raise RuntimeError("not yet")
        return ctx.number

    async with fleet.running(app):
        job = await fleet.done(app, await flaky.submit())
        assert (job.status, flaky.result(job)) == (Status.COMPLETED, 2)


async def test_a_snoozed_job_runs_again_later_and_its_attempt_does_not_count(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    runs: list[tuple[int, int, float]] = []

    @app.task(retry=Retry.never())
    async def patient(ctx: Context) -> None:
        runs.append((ctx.number, ctx.fence, clock.elapsed()))
        if len(runs) < 4:
            raise Snooze(60)

    async with fleet.running(app):
        job = await fleet.done(app, await patient.submit())
        assert job.status is Status.COMPLETED
        assert [number for number, _, _ in runs] == [1, 1, 1, 1]
        assert [fence for _, fence, _ in runs] == [1, 2, 3, 4]
        assert [at for _, _, at in runs] == pytest.approx([0, 60, 120, 180], abs=0.1)


async def test_a_handler_can_cancel_its_job_with_a_reason(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def give_up() -> None:
        raise Cancel("the account is closed")

    async with fleet.running(app):
        job = await fleet.done(app, await give_up.submit())
        assert (job.status, job.attempt) == (Status.CANCELLED, 1)
        assert job.error == "the account is closed"


class Unheard(BaseException):
    """An error that is no `Exception`, as test frameworks and other event loops raise."""


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), Unheard("odd")])
async def test_a_handler_that_raises_no_exception_but_a_base_exception_only_fails_its_job(
    fleet: Fleet, app: Drumbeat, heard: Heard, error: BaseException
) -> None:
    @app.task(retry=Retry.never())
    async def leave() -> None:
        raise error

    @app.task(retry=Retry.never())
    def leave_thread() -> None:
        raise error

    @app.task
    async def other() -> int:
        return 1

    async with fleet.running(app):
        for task in (leave, leave_thread):
            job = await fleet.done(app, await task.submit(), "1m")
            assert job.status is Status.FAILED
            assert type(error).__name__ in (job.error or "")
        after = await fleet.done(app, await other.submit(), "1m")
        assert after.status is Status.COMPLETED
        assert heard.of(ServiceFailed) == []


async def test_an_attempt_whose_coroutine_is_closed_ends_without_awaiting_anything(
    clock: FakeClock,
) -> None:
    """What the interpreter does to a task that outlives its loop must not look like a failure."""

    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    now = clock.now()
    attempt = Attempt(Hold(JobId(1), 1), 1, JobSpec("forever"), NodeId("n:1"), now, now)
    run = Run(attempt, define(forever, "forever", TaskOptions()), clock, lambda: None)
    run.begin(asyncio.ensure_future(forever()))
    execution = Executor(Bus(clock)).execute(run)
    execution.send(None)
    with pytest.raises(GeneratorExit):
        execution.throw(GeneratorExit)


async def test_a_thread_that_raises_keyboard_interrupt_only_fails_its_job(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.never())
    def interrupted() -> None:
        raise KeyboardInterrupt

    async with fleet.running(app):
        job = await fleet.done(app, await interrupted.submit(), "1m")
        assert job.status is Status.FAILED
        assert "KeyboardInterrupt" in (job.error or "")


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_handler_that_cancels_its_own_task_has_failed_and_keeps_its_slot(
    fleet: Fleet, times: int
) -> None:
    app = fleet.app(concurrency=1)

    @app.task(retry=Retry.linear(max_retries=1, delay=1))
    async def suicidal() -> None:
        task = asyncio.current_task()
        assert task is not None
        for _ in range(times):
            task.cancel()
        await asyncio.Event().wait()

    @app.task
    async def other() -> int:
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    async with fleet.running(app):
        job = await fleet.done(app, await suicidal.submit(), "1m")
        assert (job.status, job.attempt) == (Status.FAILED, 2)
        after = await fleet.done(app, await other.submit(), "1m")
        assert (after.status, other.result(after)) == (Status.COMPLETED, 0)


async def test_a_handler_that_awaits_something_cancelled_has_failed_and_keeps_its_slot(
    fleet: Fleet,
) -> None:
    app = fleet.app(concurrency=1)

    @app.task
    async def unlucky() -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    @app.task
    async def other() -> None: ...

    async with fleet.running(app):
        assert (await fleet.done(app, await unlucky.submit(), "1m")).status.final
        assert (await fleet.done(app, await other.submit(), "1m")).status is Status.COMPLETED


async def test_a_handler_that_swallows_its_cancellation_and_returns_is_completed(
    fleet: Fleet,
) -> None:
    app = fleet.app(concurrency=1)

    @app.task(timeout=5, retry=Retry.never())
    async def deaf() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "done all the same"

    @app.task
    async def other() -> int:
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    async with fleet.running(app):
        job = await fleet.done(app, await deaf.submit(), "1m")
        assert (job.status, deaf.result(job)) == (Status.COMPLETED, "done all the same")
        # The slot's task must not carry the swallowed cancellation into the next job.
        after = await fleet.done(app, await other.submit(), "1m")
        assert (after.status, other.result(after)) == (Status.COMPLETED, 0)


async def test_arguments_that_do_not_fit_fail_the_job_at_once(fleet: Fleet) -> None:
    old, new = fleet.app(), fleet.app()

    @old.task(name="greet", retry=Retry.linear(max_retries=5, delay=1))
    async def greet_before(name: str) -> None: ...

    @new.task(name="greet", retry=Retry.linear(max_retries=5, delay=1))
    async def greet_after(name: int, loudness: int) -> None: ...

    job = await greet_before.submit("Ada")
    async with fleet.running(new):
        failed = await fleet.done(new, job, "1s")
        assert (failed.status, failed.attempt) == (Status.FAILED, 1)
        assert "greet" in (failed.error or "")
        assert "loudness" in (failed.error or "") or "name" in (failed.error or "")


@pytest.mark.parametrize("result", [object(), "x" * (RESULT_LIMIT + 1), {1: {2, object()}}])
async def test_a_result_that_cannot_be_stored_is_dropped_and_the_job_completed(
    fleet: Fleet, app: Drumbeat, heard: Heard, result: object
) -> None:
    @app.task(retry=Retry.never())
    async def produce() -> object:
        return result

    async with fleet.running(app):
        job = await fleet.done(app, await produce.submit())
        assert (job.status, job.result) == (Status.COMPLETED, None)
        (dropped,) = heard.of(ResultDropped)
        assert dropped.attempt.job_id == job.id
        assert dropped.why


async def test_a_slow_job_does_not_hold_up_others(fleet: Fleet, app: Drumbeat) -> None:
    release = asyncio.Event()

    @app.task
    async def slow() -> None:
        await release.wait()

    @app.task
    async def quick(number: int) -> None: ...

    async with fleet.running(app):
        held = await slow.submit()
        jobs = await quick.submit_many([(number,) for number in range(50)])
        await fleet.clock.settle()
        assert {(await app.jobs.get(job.id)).status for job in jobs} == {Status.COMPLETED}
        assert (await app.jobs.get(held.id)).status is Status.RUNNING
        release.set()
        assert (await fleet.done(app, held)).status is Status.COMPLETED


async def test_no_more_jobs_run_at_once_than_there_are_slots(fleet: Fleet) -> None:
    app = fleet.app(concurrency=3)
    running = highest = 0

    @app.task
    async def work() -> None:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        await fleet.clock.sleep(1)
        running -= 1

    async with fleet.running(app):
        await work.submit_many([() for _ in range(20)])
        await fleet.clock.until(app.wait_until_idle())
        assert highest == 3
        assert fleet.clock.elapsed() == pytest.approx(7, abs=0.1)


async def test_a_higher_priority_runs_first_and_equals_run_in_order(fleet: Fleet) -> None:
    app = fleet.app(concurrency=1)
    order: list[str] = []

    @app.task
    async def work(name: str) -> None:
        order.append(name)

    for name, priority in [("a", 0), ("b", 100), ("c", 5), ("d", 100), ("e", 0)]:
        await work.options(priority=priority).submit(name)
    async with fleet.running(app):
        await fleet.clock.until(app.wait_until_idle())
    assert order == ["b", "d", "c", "a", "e"]


async def test_the_context_tells_the_handler_about_its_run(fleet: Fleet, app: Drumbeat) -> None:
    seen: list[Context] = []

    @app.task
    async def look(ctx: Context) -> None:
        seen.append(ctx)
        ctx.progress(3, 4, "nearly")
        await fleet.clock.sleep(20)

    async with fleet.running(app):
        job = await look.submit()
        await fleet.clock.advance(10)
        progress = (await app.jobs.get(job.id)).progress
        assert progress is not None
        assert (progress.done, progress.total, progress.message) == (3, 4, "nearly")
        await fleet.done(app, job)
        (ctx,) = seen
        assert (ctx.job_id, ctx.task, ctx.number, ctx.fence) == (job.id, "look", 1, 1)
        assert (ctx.schedule, ctx.tick_at) == (None, None)
        assert ctx.epoch == app.leadership.epoch == 1
        assert not ctx.cancelled


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_handler_that_cancels_its_own_task_and_returns_harms_nobody(
    fleet: Fleet, times: int
) -> None:
    app = fleet.app(concurrency=1)

    @app.task
    async def hasty() -> int:
        """Return the cancellations that the slot's task already carried at the start."""
        task = asyncio.current_task()
        assert task is not None
        carried = task.cancelling()
        for _ in range(times):
            task.cancel()
        return carried

    async with fleet.running(app):
        jobs = await hasty.submit_many([(), (), ()])
        for job in jobs:
            done = await fleet.done(app, job, "1m")
            assert (done.status, hasty.result(done)) == (Status.COMPLETED, 0)
