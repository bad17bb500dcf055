"""Starting and stopping: in order, in time, and leaving nothing behind."""

from __future__ import annotations

import asyncio
import math
import threading
from contextlib import suppress

import pytest

from drumbeat import (
    Cancel,
    Context,
    Drumbeat,
    NotRunning,
    Retry,
    Snooze,
    Status,
    Unavailable,
    current,
)
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import (
    NodeDraining,
    NodeStarted,
    NodeStopped,
    ServiceFailed,
)
from drumbeat.model.fleet.node import Role
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import PATIENCE, Fault, Fleet, Heard


async def test_an_app_starts_stops_and_starts_again_as_another_node(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.task
    async def work() -> None: ...

    identities: list[str] = []
    for _ in range(3):
        async with fleet.running(app):
            identities.append(app.id)
            assert (await fleet.done(app, await work.submit(), "1s")).status is Status.COMPLETED
    assert len(set(identities)) == 3
    assert [event.node for event in heard.of(NodeStarted)] == identities
    assert [event.node for event in heard.of(NodeDraining)] == identities
    assert [event.node for event in heard.of(NodeStopped)] == identities
    assert heard.of(ServiceFailed) == []


async def test_an_app_that_runs_cannot_be_started_again(fleet: Fleet, app: Drumbeat) -> None:
    async with fleet.running(app):
        with pytest.raises(NotRunning, match="running already; stop it before"):
            await app.start()
        assert app.leadership.is_leader


async def test_two_starts_at_once_make_one_node(fleet: Fleet, app: Drumbeat) -> None:
    beat = Fault(fleet.store.nodes, "beat").hang()
    first = asyncio.ensure_future(app.start())
    await beat.hanging.wait()
    second = asyncio.ensure_future(app.start())
    await fleet.clock.settle()
    beat.heal()
    await first
    with pytest.raises(NotRunning, match="running already"):
        await second
    await fleet.clock.until(app.stop(0.0))
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("drumbeat")]


async def test_stopping_what_does_not_run_does_nothing(fleet: Fleet, app: Drumbeat) -> None:
    await app.stop()
    async with fleet.running(app):
        await fleet.clock.until(app.stop(0.0))
        await app.stop()


@pytest.mark.parametrize("roles", [[], ["leader"], "worker"])
async def test_roles_that_do_not_exist_are_refused(app: Drumbeat, roles: list[str]) -> None:
    with pytest.raises(ConfigurationError, match=r"scheduler, worker, api"):
        await app.start(roles)


async def test_roles_may_be_named(fleet: Fleet, app: Drumbeat) -> None:
    await app.start(["worker"])
    (record,) = await app.nodes()
    assert record.node.roles == {Role.WORKER}
    await fleet.clock.until(app.stop(0.0))


async def test_a_start_that_fails_leaves_nothing_behind_and_can_be_repeated(
    fleet: Fleet, app: Drumbeat
) -> None:
    before = asyncio.all_tasks()
    Fault(fleet.store.nodes, "beat").before()
    with pytest.raises(Unavailable):
        await app.start()
    assert asyncio.all_tasks() == before
    assert not app.leadership.is_leader
    async with fleet.running(app):
        assert app.leadership.is_leader


async def test_jobs_that_end_within_the_grace_are_completed(fleet: Fleet, app: Drumbeat) -> None:
    told: list[str | None] = []

    @app.task
    async def work(ctx: Context) -> str:
        await ctx.cancelled.wait()
        told.append(ctx.cancelled.reason)
        await fleet.clock.sleep(9)
        ctx.finished()
        return "done"

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop(10.0))
        assert fleet.clock.elapsed() - before == pytest.approx(9, abs=0.1)
        assert told == ["the node is stopping"]
        done = await app.jobs.get(job.id)
        assert (done.status, done.result) == (Status.COMPLETED, b'"done"')


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("threaded", [False, True])
async def test_a_handler_that_ends_because_the_node_stops_gives_its_job_back(
    fleet: Fleet, app: Drumbeat, *, failing: bool, threaded: bool
) -> None:
    def end() -> str:
        if failing:
            raise ValueError("cut short")
        return "half done"

    async def work(ctx: Context) -> str:
        await ctx.cancelled.wait()
        return end()

    def work_in_thread(ctx: Context) -> str:
        while not ctx.cancelled.block(0.01):
            pass
        return end()

    task = app.task(retry=Retry.never())(work_in_thread if threaded else work)
    async with fleet.running(app):
        job = await task.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(10.0))
        left = await app.jobs.get(job.id)
        assert (left.status, left.attempt, left.result) == (Status.QUEUED, 0, None)
        assert left.error == "the node is stopping"


@pytest.mark.parametrize("finished", [False, True])
async def test_a_handler_that_swallows_the_cancellation_of_a_stop_has_not_done_its_work(
    fleet: Fleet, app: Drumbeat, *, finished: bool
) -> None:
    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        if finished:
            ctx.finished()
        return "cleaned up"

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(1.0))
        left = await app.jobs.get(job.id)
        if finished:
            assert (left.status, left.result) == (Status.COMPLETED, b'"cleaned up"')
        else:
            assert (left.status, left.attempt, left.result) == (Status.QUEUED, 0, None)


@pytest.mark.parametrize("raised", [asyncio.CancelledError, SystemExit])
async def test_whatever_a_handler_raises_because_the_node_stops_gives_its_job_back(
    fleet: Fleet, app: Drumbeat, raised: type[BaseException]
) -> None:
    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        raise raised

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(10.0))
        left = await app.jobs.get(job.id)
        assert (left.status, left.attempt) == (Status.QUEUED, 0)


async def test_a_handler_whose_child_task_sees_the_stop_gives_its_job_back(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def work() -> str:
        async def until_asked_to_end() -> None:
            await current().cancelled.wait()

        await asyncio.create_task(until_asked_to_end())
        return "half done"

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(10.0))
        left = await app.jobs.get(job.id)
        assert (left.status, left.attempt) == (Status.QUEUED, 0)


@pytest.mark.parametrize("outcome", [Cancel("not needed any more"), Snooze(60)])
async def test_a_handler_may_still_decide_itself_when_the_node_stops(
    fleet: Fleet, app: Drumbeat, outcome: Exception
) -> None:
    @app.task
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        raise outcome

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(10.0))
        left = await app.jobs.get(job.id)
        expected = Status.CANCELLED if isinstance(outcome, Cancel) else Status.PENDING
        assert left.status is expected


async def test_a_handler_that_has_not_looked_is_completed_by_its_return(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def work(ctx: Context) -> bool:
        cancelled = ctx.cancelled
        await fleet.clock.sleep(5)
        return cancelled.seen

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(10.0))
        done = await app.jobs.get(job.id)
        assert (done.status, done.result) == (Status.COMPLETED, b"false")


async def test_jobs_that_outlast_the_grace_are_given_back_unharmed(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.never())
    async def work(seconds: float) -> None:
        await fleet.clock.sleep(seconds)

    async with fleet.running(app):
        short, long = await work.submit(3), await work.submit(60)
        await fleet.clock.settle()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop(10.0))
        assert fleet.clock.elapsed() - before == pytest.approx(10, abs=0.1)
        assert (await app.jobs.get(short.id)).status is Status.COMPLETED
        back = await app.jobs.get(long.id)
        assert (back.status, back.attempt) == (Status.QUEUED, 0)


async def test_the_grace_of_the_settings_holds_where_none_is_given(fleet: Fleet) -> None:
    app = fleet.app(grace="7s")

    @app.task
    async def work() -> None:
        await asyncio.Event().wait()

    async with fleet.running(app):
        await work.submit()
        await fleet.clock.settle()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop())
        assert fleet.clock.elapsed() - before == pytest.approx(7, abs=0.1)


async def test_a_stop_without_limit_waits_for_as_long_as_it_takes(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def work() -> None:
        await fleet.clock.sleep(3 * 3600)

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        await fleet.clock.until(app.stop(math.inf))
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED


@pytest.mark.parametrize("cleaning", [3.0, 8.0])
async def test_a_handler_that_takes_long_to_clean_up_does_not_hang_the_stop(
    fleet: Fleet, app: Drumbeat, cleaning: float
) -> None:
    @app.task(retry=Retry.never())
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await fleet.clock.sleep(cleaning)

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop(0.0), "1m")
        assert fleet.clock.elapsed() - before <= 10.1
        back = await app.jobs.get(job.id)
        assert (back.status, back.attempt) == (Status.QUEUED, 0)


async def test_a_handler_that_ignores_every_cancellation_does_not_hang_the_stop(
    fleet: Fleet, app: Drumbeat
) -> None:
    release = asyncio.Event()

    @app.task(retry=Retry.never())
    async def deaf() -> None:
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await release.wait()

    async with fleet.running(app):
        job = await deaf.submit()
        await fleet.clock.settle()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop(0.0), "1m")
        assert fleet.clock.elapsed() - before <= 20
        back = await app.jobs.get(job.id)
        assert (back.status, back.attempt) == (Status.QUEUED, 0)
        assert not any(record.alive for record in await app.nodes())
    release.set()
    await fleet.clock.settle()
    assert (await app.jobs.get(job.id)).status is Status.QUEUED


async def test_a_thread_that_does_not_return_does_not_hang_the_stop() -> None:
    fleet = Fleet(FakeClock(patience=0.05))
    app = fleet.app()
    release, started = threading.Event(), threading.Event()

    @app.task(retry=Retry.never())
    def deaf() -> None:
        started.set()
        release.wait(PATIENCE)

    async with fleet.running(app):
        job = await deaf.submit()
        assert await asyncio.to_thread(started.wait, PATIENCE)
        await fleet.clock.until(app.stop(0.0), "1m")
        assert (await app.jobs.get(job.id)).status is Status.QUEUED
    release.set()


async def test_a_stop_that_is_cancelled_ends_the_services_all_the_same(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.never())
    async def work() -> None:
        await asyncio.Event().wait()

    await app.start()
    job = await work.submit()
    await fleet.clock.settle()
    stopping = asyncio.ensure_future(app.stop(60.0))
    await fleet.clock.settle()
    stopping.cancel()
    await fleet.clock.until(asyncio.wait([stopping]))
    assert stopping.cancelled()
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("drumbeat")]
    assert (await app.jobs.get(job.id)).status is not Status.COMPLETED


async def test_running_stops_the_app_even_if_its_body_fails(fleet: Fleet, app: Drumbeat) -> None:
    async def fail() -> None:
        async with app.running():
            await fleet.clock.settle()
            assert app.leadership.is_leader
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert not app.leadership.is_leader
    async with app.running(["worker"]):  # and it can run again
        await fleet.clock.settle()
        assert [record.alive for record in await app.nodes()].count(True) == 1


async def test_a_coordinator_that_hangs_does_not_hang_the_stop(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    async with fleet.running(app):
        for method in ("renew", "release", "acquire"):
            Fault(fleet.coordinator.leases, method).always("hang")
        await clock.advance(3.5)
        before = clock.elapsed()
        await clock.until(app.stop(0.0), "1m")
        assert clock.elapsed() - before <= 6


async def test_a_node_that_has_just_resigned_stops_at_once(fleet: Fleet, app: Drumbeat) -> None:
    async with fleet.running(app):
        app.leadership.resign()
        await fleet.clock.settle()
        before = fleet.clock.elapsed()
        await fleet.clock.until(app.stop(0.0), "1m")
        assert fleet.clock.elapsed() - before < 0.1


async def test_what_the_user_made_the_user_closes(fleet: Fleet) -> None:
    closed: list[str] = []

    async def close_store() -> None:
        closed.append("store")

    async def close_coordinator() -> None:
        closed.append("coordinator")

    fleet.store.close = close_store  # type: ignore[method-assign]
    fleet.coordinator.close = close_coordinator  # type: ignore[method-assign]
    async with fleet.running(fleet.app()):
        pass
    assert closed == []


async def test_nothing_is_left_running_after_a_stop() -> None:
    """In real time, with real threads."""
    tasks, threads = asyncio.all_tasks(), set(threading.enumerate())
    app = Drumbeat("memory://")

    @app.task
    async def work() -> None: ...

    @app.task
    def thread() -> None: ...

    for _ in range(2):
        async with app.running():
            jobs = [await work.submit(), await thread.submit(), await thread.submit()]
            for job in jobs:
                assert (await app.jobs.wait(job.id, PATIENCE)).status is Status.COMPLETED
        assert asyncio.all_tasks() == tasks
        left = set(threading.enumerate()) - threads
        for each in left:
            each.join(PATIENCE)
        assert not any(each.is_alive() for each in left)


async def test_a_thread_that_returns_after_the_stop_ends() -> None:
    app = Drumbeat("memory://")
    release, threads = threading.Event(), set(threading.enumerate())
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    @app.task
    def deaf() -> None:
        loop.call_soon_threadsafe(started.set)
        release.wait(PATIENCE)

    await app.start()
    await deaf.submit()
    async with asyncio.timeout(PATIENCE):
        await started.wait()
    await app.stop(0)
    (left,) = [
        thread
        for thread in set(threading.enumerate()) - threads
        if thread.name.startswith("drumbeat-handler")
    ]
    release.set()
    left.join(PATIENCE)
    assert not left.is_alive()


async def test_an_app_without_an_election_warns_when_it_starts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Drumbeat("memory://", coordinator="none")
    async with app.running():
        pass
    assert "Leader election is off" in caplog.text


async def test_a_node_leaves_only_when_the_store_knows_what_became_of_its_jobs(
    fleet: Fleet, app: Drumbeat
) -> None:
    begun = asyncio.Event()

    @app.task
    async def work() -> None:
        begun.set()
        await asyncio.get_running_loop().create_future()

    take, leave = Fault(fleet.store.jobs, "take"), Fault(fleet.store.nodes, "leave").hang()
    await app.start()
    job = await work.submit()
    await fleet.clock.advance(1)
    assert begun.is_set()
    take.hang()  # so that the worker's own call is cut short, and the node has to make up for it
    stopping = asyncio.ensure_future(app.stop(0))
    await leave.hanging.wait()
    assert (await app.jobs.get(job.id)).status is Status.QUEUED
    leave.heal()
    await stopping
