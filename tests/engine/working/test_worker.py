"""The worker, against a store that fails, forgets to answer, or answers too late."""

from __future__ import annotations

import asyncio

import pytest

from drumbeat import Context, Drumbeat, Retry, Status
from drumbeat.model.events import (
    AttemptStarted,
    AttemptSuperseded,
    JobSettled,
    ServiceFailed,
    TaskUnknown,
)
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Change, Settlement, Wanted
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import Fault, Fleet, Heard

WORKER = (Role.WORKER,)


async def test_a_take_that_fails_before_it_is_applied_only_delays(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.task
    async def work() -> None: ...

    async with fleet.running(app):
        fault = Fault(fleet.store.jobs, "take").before(times=3)
        job = await fleet.done(app, await work.submit(), "10s")
        assert (job.status, job.attempt, job.fence) == (Status.COMPLETED, 1, 1)
        assert [event.service for event in heard.of(ServiceFailed)] == ["worker"] * 3
        assert len(fault.calls) > 3


async def test_claims_whose_answer_got_lost_are_given_back_and_run_without_spending_an_attempt(
    fleet: Fleet, app: Drumbeat
) -> None:
    runs: list[tuple[int, int]] = []

    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> None:
        runs.append((ctx.number, ctx.fence))

    async with fleet.running(app):
        Fault(fleet.store.jobs, "take").after()
        job = await fleet.done(app, await work.submit(), "10s")
        assert job.status is Status.COMPLETED
        assert runs == [(1, 2)]
        assert [each.change for each in await app.jobs.attempts(job.id)] == [
            Change.GIVE_BACK,
            Change.COMPLETE,
        ]


async def test_orphaned_claims_are_found_even_if_the_store_fails_again_while_they_are_looked_for(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.never())
    async def work() -> None: ...

    async with fleet.running(app):
        Fault(fleet.store.jobs, "take").after()
        Fault(fleet.store.jobs, "held").before(times=2)
        job = await fleet.done(app, await work.submit(), "10s")
        assert (job.status, job.fence) == (Status.COMPLETED, 2)


async def test_an_ending_whose_settlement_got_no_answer_is_told_again_and_counted_once(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    runs = 0

    @app.task
    async def work() -> int:
        nonlocal runs
        runs += 1
        return runs

    async with fleet.running(app):
        take = Fault(fleet.store.jobs, "take")
        job = await work.submit()
        # The first take gives the job; the next settles it, and its answer is lost.
        take.modes += ["", "after"]
        await fleet.clock.advance(60)
        done = await app.jobs.get(job.id)
        assert (done.status, done.result, runs) == (Status.COMPLETED, b"1", 1)
        settled = [call[2] for call in take.calls if call[2]]
        assert [len(batch) for batch in settled] == [1, 1]
        assert settled[0] == settled[1]
        # The second telling was refused, most likely because of the first: no cause for alarm.
        assert heard.of(AttemptSuperseded) == []
        assert heard.of(JobSettled) == []


async def test_an_ending_that_comes_too_late_is_refused_and_said_so(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    release = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> int:
        if ctx.fence == 1:
            await release.wait()
        return ctx.fence

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        (started,) = heard.of(AttemptStarted)
        # Somebody took this node for dead and gave the job back; now it runs a second time.
        hold = started.attempt.hold
        await fleet.store.jobs.settle([Settlement(hold, Change.GIVE_BACK)])
        done = await fleet.done(app, job, "1s")
        assert done.result == b"2"
        release.set()
        await fleet.clock.settle()
        assert [event.hold for event in heard.of(AttemptSuperseded)] == [hold]
        assert (await app.jobs.get(job.id)).result == b"2"


async def test_a_task_that_is_unknown_here_waits_and_is_reported_once(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    other = fleet.app()

    @other.task
    async def newer() -> None: ...

    @app.task
    async def known() -> None: ...

    async with fleet.running(app):
        job = await newer.submit()
        await fleet.clock.advance("10m")
        assert [event.task for event in heard.of(TaskUnknown)] == ["newer"]
        assert (await app.jobs.get(job.id)).status is Status.QUEUED
        assert (await fleet.done(app, await known.submit(), "1s")).status is Status.COMPLETED
        async with fleet.running(other):
            done = await fleet.done(app, job, "1m")
            assert (done.status, done.attempt) == (Status.COMPLETED, 1)


async def test_a_worker_takes_only_from_its_queues(fleet: Fleet) -> None:
    app = fleet.app(queues=("mail",))

    @app.task(queue="mail")
    async def mail() -> None: ...

    @app.task(queue="video")
    async def video() -> None: ...

    async with fleet.running(app):
        wanted, other = await mail.submit(), await video.submit()
        assert (await fleet.done(app, wanted, "1s")).status is Status.COMPLETED
        await fleet.clock.advance("5m")
        assert (await app.jobs.get(other.id)).status is Status.QUEUED


async def test_jobs_that_arrive_while_the_node_stops_taking_are_given_back(
    fleet: Fleet, app: Drumbeat
) -> None:
    ran: list[int] = []
    release = asyncio.Event()

    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> None:
        ran.append(ctx.fence)

    @app.task
    async def slow() -> None:
        await release.wait()

    async with fleet.running(app):
        held = await slow.submit()
        await fleet.clock.settle()
        take = Fault(fleet.store.jobs, "take").hang()
        job = await work.submit()
        await take.hanging.wait()
        stopping = asyncio.ensure_future(app.stop(10.0))
        await fleet.clock.settle()
        take.heal()
        await fleet.clock.settle()
        release.set()
        await fleet.clock.until(asyncio.wait_for(stopping, None))
        assert ran == []
        assert (await app.jobs.get(held.id)).status is Status.COMPLETED
        given_back = await app.jobs.get(job.id)
        assert (given_back.status, given_back.attempt) == (Status.QUEUED, 0)


async def test_claims_that_are_under_way_when_the_node_ends_do_not_spend_their_attempt(
    fleet: Fleet, app: Drumbeat
) -> None:
    """The take was applied, its answer never came, and the node stops without knowing."""

    @app.task(retry=Retry.never())
    async def work() -> None: ...

    async with fleet.running(app):
        job = await work.submit()
        await fleet.done(app, job)
        applied = asyncio.Event()
        original = fleet.store.jobs.take

        async def lose_the_answer(*args: object) -> object:
            await original(*args)  # type: ignore[arg-type]  # handed through
            applied.set()
            return await asyncio.Event().wait()

        fleet.store.jobs.take = lose_the_answer  # type: ignore[method-assign, assignment]
        orphan = await work.submit()
        await applied.wait()
        fleet.store.jobs.take = original  # type: ignore[method-assign]
        assert (await app.jobs.get(orphan.id)).status is Status.RUNNING
        await fleet.clock.until(app.stop(0.0))
        given_back = await app.jobs.get(orphan.id)
        assert (given_back.status, given_back.attempt) == (Status.QUEUED, 0)


async def test_a_job_given_back_at_shutdown_does_not_spend_its_attempt(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> None:
        await asyncio.Event().wait()

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        running = await app.jobs.get(job.id)
        assert (running.status, running.attempt) == (Status.RUNNING, 1)
        await fleet.clock.until(app.stop(0.0))
        given_back = await app.jobs.get(job.id)
        assert (given_back.status, given_back.attempt, given_back.fence) == (Status.QUEUED, 0, 1)


async def test_jobs_that_ended_while_the_store_was_down_are_settled_at_shutdown(
    fleet: Fleet, app: Drumbeat
) -> None:
    release = asyncio.Event()

    @app.task
    async def work() -> str:
        await release.wait()
        return "done"

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        take = Fault(fleet.store.jobs, "take").always("before")
        release.set()
        await fleet.clock.advance(1)
        assert (await app.jobs.get(job.id)).status is Status.RUNNING
        take.heal()
        await fleet.clock.until(app.stop(0.0))
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED


async def test_a_stop_ends_in_bounded_time_even_if_the_store_hangs(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    @app.task
    async def work() -> None: ...

    async with fleet.running(app):
        for part, method in [
            (fleet.store.jobs, "take"),
            (fleet.store.jobs, "held"),
            (fleet.store.nodes, "leave"),
            (fleet.store.nodes, "beat"),
        ]:
            Fault(part, method).always("hang")
        await work.submit()
        await clock.settle()
        before = clock.elapsed()
        await clock.until(app.stop(1.0), "2m")
        assert clock.elapsed() - before < 30


async def test_a_service_survives_a_stores_stray_cancellation(fleet: Fleet, app: Drumbeat) -> None:
    """Some drivers let a cancelled future of their own escape; nobody cancelled the service."""

    @app.task
    async def work() -> None: ...

    async with fleet.running(app):
        for part, method in [(fleet.store.jobs, "take"), (fleet.store.nodes, "beat")]:
            fault = Fault(part, method).before()
            fault.error = asyncio.CancelledError()
        await fleet.clock.advance(10)
        assert (await fleet.done(app, await work.submit(), "1m")).status is Status.COMPLETED
        assert [record.alive for record in await app.nodes()] == [True]


@pytest.mark.parametrize("count", [1, 25])
async def test_nothing_is_run_twice_by_two_workers(fleet: Fleet, count: int) -> None:
    ran: list[int] = []
    apps = [fleet.app(concurrency=3), fleet.app(concurrency=3)]
    for app in apps:

        @app.task
        async def work(number: int) -> None:
            await fleet.clock.sleep(0)
            ran.append(number)

    async with fleet.running(*apps):
        await apps[0].jobs.submit("work", [0])
        for number in range(1, count):
            await apps[number % 2].jobs.submit("work", [number])
        await fleet.clock.until(apps[0].wait_until_idle())
        assert sorted(ran) == list(range(count))


async def test_a_settlement_of_another_nodes_hold_is_refused(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    job = await work.submit()
    wanted = Wanted(("default",), frozenset({"work"}), 1)
    (first,) = (await fleet.store.jobs.take(wanted, NodeId("a"))).attempts
    await fleet.store.jobs.settle([Settlement(first.hold, Change.GIVE_BACK)])
    async with fleet.running(app):
        assert (await fleet.done(app, job, "1s")).fence == 2
