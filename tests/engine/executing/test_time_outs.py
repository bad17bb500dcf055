"""Time-outs of attempts, of async handlers and of threads, and what puts them off."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from drumbeat import Context, Drumbeat, Retry, Status
from drumbeat.model.events import AttemptOverran
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import PATIENCE, Fleet, Heard


async def test_an_asynchronous_handler_is_cancelled_at_its_time_out_and_retried(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    ended: list[tuple[float, str | None]] = []

    @app.task(timeout=30, retry=Retry.linear(max_retries=1, delay=10))
    async def hang(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append((clock.elapsed(), ctx.cancelled.reason))

    async with fleet.running(app):
        job = await fleet.done(app, await hang.submit())
        assert (job.status, job.attempt) == (Status.FAILED, 2)
        assert "timed out after 30 s" in (job.error or "")
        assert [at for at, _ in ended] == pytest.approx([30, 70], abs=0.1)
        assert all("timed out" in (reason or "") for _, reason in ended)


async def test_a_time_out_is_of_its_own_run_only(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def hang(ctx: Context) -> None:
        await ctx.cancelled.wait()

    async with fleet.running(app):
        short = await hang.options(timeout=10, retry=Retry.never()).submit()
        long = await hang.options(timeout=100, retry=Retry.never()).submit()
        assert (await fleet.done(app, short)).status is Status.FAILED
        await fleet.clock.advance(80)
        assert (await app.jobs.get(long.id)).status is Status.RUNNING
        assert (await fleet.done(app, long, "20s")).status is Status.FAILED


async def test_a_thread_that_overruns_is_settled_but_keeps_its_slot_until_it_returns() -> None:
    fleet = Fleet(FakeClock(patience=0.05))
    app = fleet.app(concurrency=1)
    heard = Heard(app)
    release, started = threading.Event(), threading.Event()

    @app.task(timeout=30, retry=Retry.never())
    def stubborn() -> None:
        started.set()
        release.wait(PATIENCE)

    @app.task
    async def other() -> None: ...

    async with fleet.running(app):
        job = await stubborn.submit()
        assert await asyncio.to_thread(started.wait, PATIENCE)
        job = await fleet.done(app, job)
        assert job.status is Status.FAILED
        assert "timed out" in (job.error or "")
        assert [event.attempt.job_id for event in heard.of(AttemptOverran)] == [job.id]

        waits = await other.submit()
        await fleet.clock.advance(60)
        assert (await app.jobs.get(waits.id)).status is Status.QUEUED

        release.set()
        async with asyncio.timeout(PATIENCE):
            assert (await app.jobs.wait(waits.id)).status is Status.COMPLETED
        assert (await app.jobs.get(job.id)).status is Status.FAILED


async def test_an_overrun_thread_that_ends_by_sys_exit_harms_nobody() -> None:
    fleet = Fleet(FakeClock(patience=0.05))
    app = fleet.app(concurrency=1)
    release = threading.Event()

    @app.task(timeout=30, retry=Retry.never())
    def stubborn() -> None:
        release.wait(PATIENCE)
        sys.exit(3)

    @app.task
    async def other() -> None: ...

    async with fleet.running(app):
        await fleet.done(app, await stubborn.submit())
        waits = await other.submit()
        release.set()
        async with asyncio.timeout(PATIENCE):
            assert (await app.jobs.wait(waits.id)).status is Status.COMPLETED


async def test_heartbeats_put_off_the_time_out_of_silence(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    ended: list[float] = []

    @app.task(heartbeat=10, retry=Retry.never())
    async def lively(ctx: Context) -> None:
        try:
            for _ in range(5):
                await clock.sleep(8)
                ctx.heartbeat()
            await clock.sleep(8)
            ctx.progress(1, 2)
            await clock.sleep(60)
        finally:
            ended.append(clock.elapsed())

    async with fleet.running(app):
        job = await fleet.done(app, await lively.submit())
        assert job.status is Status.FAILED
        assert ended == pytest.approx([58], abs=0.1)


async def test_heartbeats_do_not_put_off_the_time_out_of_the_whole_attempt(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    ended: list[float] = []

    @app.task(heartbeat=10, timeout=25, retry=Retry.never())
    async def lively(ctx: Context) -> None:
        try:
            while True:
                await clock.sleep(5)
                ctx.heartbeat()
        finally:
            ended.append(clock.elapsed())

    async with fleet.running(app):
        await fleet.done(app, await lively.submit())
        assert ended == pytest.approx([25], abs=0.1)


async def test_a_handler_that_turns_its_cancellation_into_an_error_has_timed_out(
    fleet: Fleet,
) -> None:
    app = fleet.app(concurrency=1)

    @app.task(timeout=5, retry=Retry.never())
    async def angry() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("cleaning up failed") from None

    @app.task
    async def other() -> int:
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    async with fleet.running(app):
        job = await fleet.done(app, await angry.submit(), "1m")
        assert job.status is Status.FAILED
        assert "timed out" in (job.error or "")
        after = await fleet.done(app, await other.submit(), "1m")
        assert (after.status, other.result(after)) == (Status.COMPLETED, 0)


async def test_a_time_out_of_the_handlers_own_is_an_error_like_any_other(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.never())
    async def impatient() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    async with fleet.running(app):
        job = await fleet.done(app, await impatient.submit(), "1m")
        assert job.status is Status.FAILED
        assert "TimeoutError" in (job.error or "")
