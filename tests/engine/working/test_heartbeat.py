"""The heartbeat: holds that are lost, and a store that cannot be reached."""

from __future__ import annotations

import asyncio

import pytest

from drumbeat import Context, Drumbeat, Retry, Status
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import AttemptStarted, AttemptSuperseded, NodeDraining
from drumbeat.model.jobs.job import Change, Settlement
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import Fault, Fleet, Heard


async def test_a_lost_hold_is_ended_at_once_and_its_ending_changes_nothing(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    reasons: list[str | None] = []

    @app.task(queue="default", retry=Retry.never())
    async def work(ctx: Context) -> int:
        if ctx.fence == 1:
            try:
                await asyncio.Event().wait()
            finally:
                reasons.append(ctx.cancelled.reason)
        return ctx.fence

    async with fleet.running(app):
        job = await work.submit()
        await fleet.clock.settle()
        hold = heard.of(AttemptStarted)[0].attempt.hold
        await fleet.store.jobs.settle([Settlement(hold, Change.GIVE_BACK)])
        await fleet.clock.advance(6)
        assert reasons == ["another node has the job"]
        assert (await app.jobs.get(job.id)).result == b"2"
        assert [event.hold for event in heard.of(AttemptSuperseded)] == [hold]


@pytest.mark.parametrize("mode", ["before", "hang"])
async def test_runs_end_before_the_store_may_give_them_to_others(
    fleet: Fleet, clock: FakeClock, mode: str
) -> None:
    app = fleet.app(heartbeat_every=5, node_lifetime=20)
    ended: list[float] = []

    @app.task(retry=Retry.never())
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(clock.elapsed())

    async with fleet.running(app):
        await work.submit()
        await clock.advance(12)  # the last heartbeat that gets through is that of second 10
        beat = Fault(fleet.store.nodes, "beat").always(mode)
        take = Fault(fleet.store.jobs, "take").always(mode)
        await clock.advance(60)
        assert len(ended) == 1
        assert ended[0] < 10 + 20, "another node may have had the job by then"
        beat.heal()
        take.heal()


async def test_a_run_that_was_given_up_goes_back_without_spending_its_attempt(
    fleet: Fleet, clock: FakeClock
) -> None:
    app = fleet.app(heartbeat_every=5, node_lifetime=20)
    runs: list[tuple[int, int]] = []

    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> None:
        runs.append((ctx.number, ctx.fence))
        if ctx.fence == 1:
            await asyncio.Event().wait()

    async with fleet.running(app):
        job = await work.submit()
        await clock.settle()
        faults = [
            Fault(fleet.store.nodes, "beat").always("before"),
            Fault(fleet.store.jobs, "take").always("before"),
        ]
        await clock.advance(18)  # the node has given up, the store would have waited on
        for fault in faults:
            fault.heal()
        done = await fleet.done(app, job, "1m")
        assert (done.status, done.attempt) == (Status.COMPLETED, 1)
        assert runs == [(1, 1), (1, 2)]


async def test_a_store_that_takes_no_first_heartbeat_is_named_as_unavailable(
    fleet: Fleet, clock: FakeClock
) -> None:
    app = fleet.app(heartbeat_every=5, node_lifetime=20)
    beat = Fault(fleet.store.nodes, "beat").always("hang")
    starting = asyncio.create_task(app.start())
    await clock.advance(6)
    with pytest.raises(Unavailable, match="did not take the heartbeat: no answer within 5 s"):
        await starting
    beat.heal()
    await app.start()
    await app.stop()


async def test_one_lost_heartbeat_does_no_harm(fleet: Fleet, clock: FakeClock) -> None:
    app = fleet.app(heartbeat_every=5, node_lifetime=15)
    cancelled: list[bool] = []

    @app.task(retry=Retry.never())
    async def work(ctx: Context) -> None:
        await clock.sleep(60)
        cancelled.append(ctx.cancelled.is_set())

    async with fleet.running(app):
        job = await work.submit()
        beat = Fault(fleet.store.nodes, "beat")
        for _ in range(4):
            beat.after()
            await clock.advance(12)
        assert (await fleet.done(app, job)).status is Status.COMPLETED
        assert cancelled == [False]


async def test_a_node_is_listed_while_it_lives_and_not_alive_after_it_left(
    fleet: Fleet, app: Drumbeat
) -> None:
    async with fleet.running(app):
        await fleet.clock.advance("5m")
        (record,) = await app.nodes()
        assert (record.alive, record.node.id, record.node.label) == (True, app.id, "node-1")
        assert (record.node.slots, record.node.queues) == (10, ("default",))
    (record,) = await app.nodes()
    assert not record.alive


async def test_a_node_that_is_asked_to_drain_takes_no_more_and_leads_no_more(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    other = fleet.app()
    told: list[str | None] = []

    @app.task
    async def work(ctx: Context) -> None:
        await ctx.cancelled.wait()
        told.append(ctx.cancelled.reason)
        ctx.finished()

    @app.task
    async def next_one() -> None: ...

    async with fleet.running(app, other):
        assert app.leadership.is_leader
        running = await work.submit()
        await fleet.clock.settle()
        await fleet.store.nodes.request_drain([app.id])
        await fleet.clock.advance(6)
        assert (await app.jobs.get(running.id)).status is Status.COMPLETED
        assert told == ["the node is draining"]
        assert not app.leadership.is_leader
        assert other.leadership.is_leader
        waits = await next_one.submit()
        await fleet.clock.advance("10m")
        assert (await app.jobs.get(waits.id)).status is Status.QUEUED
        assert not app.leadership.is_leader
        drained = {record.node.id: record.node.draining for record in await app.nodes()}
        assert drained == {app.id: True, other.id: False}
        assert [event.reason for event in heard.of(NodeDraining)] == ["the node is draining"]
