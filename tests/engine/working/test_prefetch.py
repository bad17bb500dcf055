"""Holding more than the slots can start: how far it goes, and who must never suffer from it."""

from __future__ import annotations

import asyncio

import pytest

from drumbeat import Drumbeat, Retry, Status
from drumbeat.model.events import AttemptEnded, AttemptSuperseded, ServiceFailed
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Change
from drumbeat.rules.jobs.prefetch_limit import MOST_AHEAD, PATIENCE
from drumbeat.testing import inside
from tests.engine.support.fleet import Fleet, Heard
from tests.engine.support.slow_store import Far, Flood, held

WORKER = (Role.WORKER,)
LATENCY = 0.001


@pytest.mark.parametrize("slots", [1, 10])
async def test_a_backlog_of_quick_jobs_is_taken_in_ever_larger_bites(
    fleet: Fleet, far: Far, slots: int
) -> None:
    app = fleet.app(concurrency=slots)

    @app.task
    async def work() -> None: ...

    await work.submit_many([()] * 10_000)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert far.sizes[0] == slots
    assert max(far.sizes) > MOST_AHEAD / 2
    assert len(far.sizes) < 60  # a thousand, were it ten at a time
    assert sum(far.sizes) == 10_000
    assert fleet.clock.elapsed() < 60 * LATENCY


async def test_slow_handlers_are_never_taken_ahead(fleet: Fleet, app: Drumbeat, far: Far) -> None:
    @app.task
    async def work() -> None:
        await fleet.clock.sleep(1)

    await work.submit_many([()] * 100)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert {wanted.ahead for wanted in far.wanted} == {0}
    assert fleet.clock.elapsed() < 11


async def test_what_waits_behind_slow_jobs_goes_to_another_node_within_the_longest_wait(
    fleet: Fleet, far: Far
) -> None:
    flood = Flood(fleet)
    one, two = flood.app(), flood.app()
    heard = Heard(one)
    async with fleet.running(one, two, roles=WORKER):
        await two.stop(0.0)
        await flood.fill(one)
        hoarded = await held(fleet, one)
        assert len(hoarded) > 100
        since = fleet.clock.elapsed()
        await two.start(WORKER)
        await fleet.clock.advance(PATIENCE + 20 * LATENCY)
        assert fleet.clock.elapsed() - since < 2 * PATIENCE
        behind = {job.id for job in flood.behind}
        assert behind <= flood.ran.keys()
        assert await held(fleet, one) == {job.id for job in flood.blockers}
        given_back = [job for job in flood.behind if job.id in hoarded]
        assert {flood.ran_by[job.id] for job in given_back} == {two.settings.instance_id}
        for job in given_back:
            done = await two.jobs.get(job.id)
            # The attempt that never began does not count; the claim of it does.
            assert (done.status, done.attempt, done.fence) == (Status.COMPLETED, 1, 2)
        first, second = await two.jobs.attempts(given_back[0].id)
        assert (first.change, second.change) == (Change.GIVE_BACK, Change.COMPLETE)
        assert "waited too long" in (first.error or "")
        # Nothing began, so nothing ended, and nobody was surprised.
        assert heard.of(AttemptEnded) == []
        flood.open()
        await fleet.clock.until(two.wait_until_idle(), "1m")
    assert set(flood.ran.values()) == {1}
    assert len(flood.ran) == 700
    assert heard.of(AttemptSuperseded) == []
    assert heard.of(ServiceFailed) == []


async def test_a_node_that_gave_jobs_back_does_not_take_them_again_at_once(
    fleet: Fleet, far: Far
) -> None:
    flood = Flood(fleet)
    app = flood.app()
    async with fleet.running(app, roles=WORKER):
        await flood.fill(app)
        await fleet.clock.advance(PATIENCE + LATENCY)
        asked = len(far.wanted)
        await fleet.clock.advance("1m")
        assert {wanted.limit + wanted.ahead for wanted in far.wanted[asked:]} <= {0}
        assert await held(fleet, app) == {job.id for job in flood.blockers}
        flood.open()
        await fleet.clock.until(app.wait_until_idle(), "1m")
        # It began anew with one, and came back to large bites all the same.
        sizes = [size for size in far.sizes[asked:] if size]
        assert sizes[0] == 1
        assert max(sizes) > 10
    assert set(flood.ran.values()) == {1}


async def test_a_cancelled_job_that_waits_for_a_slot_does_not_start(fleet: Fleet, far: Far) -> None:
    flood = Flood(fleet)
    app = flood.app()
    async with fleet.running(app, roles=WORKER):
        await flood.fill(app)
        hoarded = await held(fleet, app)
        waiting = next(job for job in flood.behind if job.id in hoarded)
        since = fleet.clock.elapsed()
        await app.jobs.cancel(waiting.id)
        await fleet.clock.advance(20 * LATENCY)
        assert fleet.clock.elapsed() - since < PATIENCE
        assert (await app.jobs.get(waiting.id)).status is Status.CANCELLED
        flood.open()
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert flood.ran[waiting.id] == 0


async def test_a_node_that_stops_with_a_full_buffer_loses_and_doubles_nothing(
    fleet: Fleet, far: Far
) -> None:
    flood = Flood(fleet)
    one, two = flood.app(), flood.app()
    async with fleet.running(two, roles=WORKER):
        await two.stop(0.0)
        await one.start(WORKER)
        await flood.fill(one)
        assert len(await held(fleet, one)) > 100
        await fleet.clock.until(one.stop(0.0))
        assert await held(fleet, one) == set()
        jobs = await two.jobs.list()
        assert {job.attempt for job in jobs.items if job.status is Status.QUEUED} == {0}
        flood.open()
        await two.start(WORKER)
        await fleet.clock.until(two.wait_until_idle(), "1m")
        jobs = await two.jobs.list()
        assert {(job.status, job.attempt) for job in jobs.items} == {(Status.COMPLETED, 1)}
    assert set(flood.ran.values()) == {1}
    assert len(flood.ran) == 700


async def test_a_node_that_drains_tells_of_each_ending_at_once(fleet: Fleet, far: Far) -> None:
    flood = Flood(fleet)
    app = flood.app()
    async with fleet.running(app, roles=WORKER):
        await flood.fill(app)
        stopping = asyncio.ensure_future(app.stop(60))
        await fleet.clock.advance(1)
        assert await held(fleet, app) == {job.id for job in flood.blockers}
        flood.gates[0].set()
        await fleet.clock.advance(2 * LATENCY)
        statuses = [(await app.jobs.get(job.id)).status for job in flood.blockers]
        assert sorted(statuses) == [Status.COMPLETED, Status.RUNNING]
        flood.open()
        await fleet.clock.until(asyncio.wait_for(stopping, None))


async def test_a_node_that_is_killed_with_a_full_buffer_loses_and_doubles_nothing(
    fleet: Fleet, far: Far
) -> None:
    flood = Flood(fleet)
    one, two = flood.app(), flood.app()
    async with fleet.running(two):
        await fleet.clock.until(two.stop(0.0))
        await one.start(WORKER)
        await flood.fill(one)
        hoarded = await held(fleet, one)
        assert len(hoarded) > 100
        node = inside.node(one)
        assert node is not None
        await node.crash()
        assert await held(fleet, one) == hoarded
        flood.open()
        await two.start()
        await fleet.clock.until(two.wait_until_idle(), "5m")
        for job in flood.behind:
            done = await two.jobs.get(job.id)
            expected = 2 if job.id in hoarded else 1  # nobody can know that it had not begun
            assert (done.status, done.attempt) == (Status.COMPLETED, expected)
    assert set(flood.ran.values()) == {1}
    assert len(flood.ran) == 700


async def test_last_attempts_are_not_held_since_a_death_would_spend_them(
    fleet: Fleet, app: Drumbeat, far: Far
) -> None:
    @app.task(retry=Retry.never())
    async def work() -> None: ...

    await work.submit_many([()] * 500)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert {wanted.ahead for wanted in far.wanted} == {0}


async def test_a_job_with_a_limit_is_only_taken_for_a_free_slot(
    fleet: Fleet, app: Drumbeat, far: Far
) -> None:
    running = most = 0

    @app.task
    async def work() -> None: ...

    @app.task(concurrency=3)
    async def limited() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await fleet.clock.sleep(LATENCY)
        running -= 1

    for _ in range(20):
        await work.submit_many([()] * 200)
        await limited.submit_many([()] * 8)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert most == 3
    assert sum(far.sizes) == 4160
    assert max(wanted.ahead for wanted in far.wanted) > 10
    for wanted, given in zip(far.wanted, far.given, strict=True):
        assert all(not attempt.spec.limits for attempt in given[wanted.limit :])


async def test_a_job_with_a_limit_does_not_wait_for_an_ending_while_slots_are_free(
    fleet: Fleet, app: Drumbeat, far: Far
) -> None:
    """The store ended the claim before it, and gives no hint; nothing ends for an hour."""

    @app.task
    async def work() -> None: ...

    @app.task
    async def slow() -> None:
        await fleet.clock.sleep(3600)

    @app.task(concurrency=1)
    async def limited() -> None: ...

    await work.submit_many([()] * 200)
    await slow.submit_many([()] * 3)
    job = await limited.submit()
    async with fleet.running(app, roles=WORKER):
        assert (await fleet.done(app, job, "1s")).status is Status.COMPLETED
    assert any(
        given and given[-1].spec.task == "slow" and len(given) < wanted.limit + wanted.ahead
        for wanted, given in zip(far.wanted, far.given, strict=True)
    ), "the claim was never cut short, so nothing was tested"


async def test_a_time_out_counts_from_the_start_and_not_from_the_claim(
    fleet: Fleet, far: Far
) -> None:
    app = fleet.app(concurrency=1)

    @app.task
    async def work() -> None: ...

    @app.task
    async def delay() -> None:
        await fleet.clock.sleep(0.15)

    @app.task(timeout=0.15, retry=Retry.linear(max_retries=1, delay=1))
    async def timed() -> None:
        await fleet.clock.sleep(0.1)

    await work.submit_many([()] * 100)
    await delay.submit()
    job = await timed.submit()
    async with fleet.running(app, roles=WORKER):
        done = await fleet.done(app, job, "1m")
        assert (done.status, done.attempt, done.fence) == (Status.COMPLETED, 1, 1)
        assert done.started_at is not None
        assert done.finished_at is not None
        assert (done.finished_at - done.started_at).total_seconds() > 0.2  # it was held


async def test_a_lone_job_is_run_and_settled_without_any_time_passing(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def work() -> None: ...

    async with fleet.running(app, roles=WORKER):
        for _ in range(3):
            job = await work.submit()
            await fleet.clock.settle()
            assert (await app.jobs.get(job.id)).status is Status.COMPLETED
    assert fleet.clock.elapsed() == 0


async def test_endings_go_untold_for_a_moment_only_while_there_is_plenty_to_do(
    fleet: Fleet, app: Drumbeat, far: Far
) -> None:
    @app.task
    async def work() -> None:
        await fleet.clock.sleep(0.002)

    await work.submit_many([()] * 3_000)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    steady = [len(settled) for settled in far.settled[10:-10]]
    assert min(steady) >= 5
    assert sum(steady) / len(steady) > 15  # ten at a time end every two milliseconds
    assert max(steady) < 80


async def test_hints_that_come_while_there_is_plenty_are_not_forgotten(
    fleet: Fleet, far: Far
) -> None:
    app = fleet.app(concurrency=4)

    @app.task
    async def slow() -> None:
        await fleet.clock.sleep(3600)

    async with fleet.running(app, roles=WORKER):
        jobs = [await slow.submit()]
        await fleet.clock.advance(LATENCY * 3 / 4)
        jobs.append(await slow.submit())  # the first is claimed, and the answer is under way
        await fleet.clock.advance(0.1)
        statuses = [(await app.jobs.get(job.id)).status for job in jobs]
        assert statuses == [Status.RUNNING] * 2
