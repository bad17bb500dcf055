# pyright: reportPrivateUsage=false
"""Promoter, reaper and pruner: what the leader does besides firing ticks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, Retry, Status, every
from drumbeat.model.errors import UnknownJob
from drumbeat.model.events import AttemptLost
from drumbeat.model.fleet.audit import AuditFilter, AuditNote
from drumbeat.model.fleet.node import Beat, Node, Role
from drumbeat.model.jobs.job import Wanted
from drumbeat.model.page import PageRequest
from drumbeat.testing.runtime import FakeRuntime
from tests.engine.support.fleet import Fault, Fleet, Heard, SkewedClock, ledger

SCHEDULER, WORKER = (Role.SCHEDULER,), (Role.WORKER,)


async def claim_as_a_node_that_dies(fleet: Fleet, task: str) -> None:
    """Another node shows one sign of life, takes a job, and is never heard of again."""
    dead = fleet.app(instance_id="dead")
    node = Node(dead.id, frozenset({Role.WORKER}), "1", fleet.clock.now())
    await fleet.store.nodes.beat(Beat(node, lifetime=20.0))
    taken = await fleet.store.jobs.take(Wanted(("default",), frozenset({task}), 1), dead.id)
    assert len(taken.attempts) == 1


async def test_the_job_of_a_dead_node_is_retried_elsewhere(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.task(retry=Retry.linear(max_retries=1, delay=3))
    async def work(ctx: Context) -> tuple[int, int]:
        return ctx.number, ctx.fence

    job = await work.submit()
    await claim_as_a_node_that_dies(fleet, "work")
    async with fleet.running(app):
        await fleet.clock.advance(19)
        assert (await app.jobs.get(job.id)).status is Status.RUNNING
        done = await fleet.done(app, job, "15s")
        assert (done.status, work.result(done)) == (Status.COMPLETED, (2, 2))
        (lost,) = heard.of(AttemptLost)
        assert (lost.attempt.job_id, lost.status) == (job.id, Status.PENDING)
        first = (await app.jobs.attempts(job.id))[0]
        assert first.error == "node dead died during attempt 1"


async def test_a_job_whose_node_dies_at_its_last_attempt_is_quarantined(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    ran: list[int] = []

    @app.task(retry=Retry.never())
    async def deadly(ctx: Context) -> None:
        ran.append(ctx.number)

    job = await deadly.submit()
    await claim_as_a_node_that_dies(fleet, "deadly")
    async with fleet.running(app):
        done = await fleet.done(app, job, "30s")
        assert done.status is Status.FAILED
        assert (done.error or "").startswith("quarantined: node dead died during attempt 1 of 1")
        assert [event.status for event in heard.of(AttemptLost)] == [Status.FAILED]
        assert ran == []


async def test_jobs_of_a_node_that_left_are_not_waited_for(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(retry=Retry.linear(max_retries=1, delay=0))
    async def work() -> None: ...

    job = await work.submit()
    await claim_as_a_node_that_dies(fleet, "work")
    (record,) = await app.nodes()
    await fleet.store.nodes.leave(record.node.id)
    async with fleet.running(app):
        assert (await fleet.done(app, job, "6s")).status is Status.COMPLETED


async def test_a_live_node_keeps_its_long_job(fleet: Fleet, app: Drumbeat, heard: Heard) -> None:
    @app.task(retry=Retry.never())
    async def long() -> None:
        await fleet.clock.sleep(3600)

    async with fleet.running(app):
        done = await fleet.done(app, await long.submit(), "2h")
        assert (done.status, done.fence) == (Status.COMPLETED, 1)
        assert heard.of(AttemptLost) == []


def silence(part: object, method: str, by: Callable[[tuple[Any, ...]], bool]) -> None:
    original = getattr(part, method)

    async def answer(*args: Any) -> Any:
        return await (asyncio.Event().wait() if by(args) else original(*args))

    setattr(part, method, answer)


async def test_a_node_that_cannot_beat_takes_no_jobs(fleet: Fleet) -> None:
    """The store would take them away from it at once, and count an attempt for each."""
    silent, other = fleet.app(), fleet.app()
    ran: list[int] = []
    for number, app in enumerate((silent, other)):

        @app.task(retry=Retry.never())
        async def work(number: int = number) -> None:
            ran.append(number)

    async with fleet.running(silent):
        beat = Fault(fleet.store.nodes, "beat").always("before")
        await fleet.clock.advance(60)
        job = await silent.jobs.submit("work")
        await fleet.clock.advance(30)
        assert (await silent.jobs.get(job.id)).status is Status.QUEUED
        beat.heal()
        assert (await fleet.done(silent, job, "6s")).status is Status.COMPLETED
        assert ran == [0]


async def test_a_node_that_wakes_up_after_its_job_was_given_to_another_changes_nothing(
    fleet: Fleet,
) -> None:
    sleeper, other = fleet.app(), fleet.app()
    release = asyncio.Event()
    for number, app in enumerate((sleeper, other)):

        @app.task(retry=Retry.linear(max_retries=3, delay=0))
        async def work(ctx: Context, number: int = number) -> int:
            if number == 0:
                await release.wait()
            return number

    await sleeper.start(WORKER)
    await fleet.clock.settle()
    job = await sleeper.jobs.submit("work")
    await fleet.clock.settle()
    # The first node is as if stopped: the store neither hears it nor answers it.
    silence(fleet.store.nodes, "beat", lambda args: args[0].node.id == sleeper.id)
    silence(fleet.store.jobs, "take", lambda args: args[1] == sleeper.id)
    node = sleeper._state.node
    assert node is not None
    node._parts.heartbeat._give_up_in_time = lambda: None  # type: ignore[method-assign]
    await other.start()
    done = await fleet.done(other, job, "1m")
    assert done.result == b"1"
    release.set()
    await fleet.clock.advance(10)
    assert (await other.jobs.get(job.id)).result == b"1"
    for app in (sleeper, other):
        await fleet.clock.until(app.stop(0.0))


async def test_delayed_jobs_wait_while_nobody_leads_and_run_as_soon_as_somebody_does(
    fleet: Fleet,
) -> None:
    worker, scheduler = fleet.app(), fleet.app()

    @worker.task
    async def work() -> None: ...

    await worker.start(WORKER)
    job = await work.options(delay=10).submit()
    await fleet.clock.advance(60)
    assert (await worker.jobs.get(job.id)).status is Status.PENDING
    await scheduler.start(SCHEDULER)
    assert (await fleet.done(worker, job, "1s")).status is Status.COMPLETED
    for app in (worker, scheduler):
        await fleet.clock.until(app.stop(0.0))


async def test_a_clock_that_runs_ahead_neither_starts_a_job_early_nor_keeps_the_node_busy(
    fleet: Fleet,
) -> None:
    """The fake clock refuses to move while anything runs without ever waiting."""
    app = fleet.app(clock=SkewedClock(fleet.clock, timedelta(seconds=4)))
    ran: list[float] = []

    @app.task(rate_limit="1/10s")
    async def work() -> None:
        ran.append(fleet.clock.elapsed())

    async with fleet.running(app):
        await work.options(delay=10, rate_limit=None).submit()
        await work.submit_many([(), ()])
        await fleet.clock.advance(21)
        assert ran == pytest.approx([0, 10, 10], abs=0.1)


async def test_many_delayed_jobs_come_due_together(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def work(number: int) -> None: ...

    await work.options(delay=60).submit_many([(number,) for number in range(2_500)])
    async with fleet.running(app):
        await fleet.clock.advance(61)
        counts = await app.jobs.counts()
        assert counts["default"][Status.COMPLETED] == 2_500


async def test_finished_jobs_and_dead_nodes_are_forgotten_after_their_time(fleet: Fleet) -> None:
    app = fleet.app(keep_jobs="1h", keep_ticks="30m", keep_nodes="1h", keep_audit="1h")
    gone = fleet.app(instance_id="gone")

    @app.task(dedupe_for=0)
    async def work() -> None: ...

    @app.scheduled(every(minutes=10))
    async def ticking() -> None: ...

    async with fleet.running(gone, roles=WORKER):
        pass
    async with fleet.running(app):
        old = await fleet.done(app, await work.submit())
        waits = await work.options(delay=3 * 86400).submit()
        await app.store.audit.record(AuditNote("anne", "queue.pause", "mail"))
        await fleet.clock.advance("50m")
        assert len((await app.store.audit.list(AuditFilter(), PageRequest())).items) == 1
        assert (await app.jobs.get(old.id)).status is Status.COMPLETED
        assert len(await app.nodes()) == 2
        await fleet.clock.advance("20m")
        with pytest.raises(UnknownJob, match="pruned"):
            await app.jobs.get(old.id)
        assert [record.node.label for record in await app.nodes()] == ["node-1"]
        assert (await app.jobs.get(waits.id)).status is Status.PENDING
        ages = [fleet.clock.now() - tick.tick_at for tick in await ledger(app, "ticking")]
        assert max(ages).total_seconds() <= 36 * 60
        assert (await app.store.audit.list(AuditFilter(), PageRequest())).items == ()


async def test_a_killed_elector_leaves_the_services_of_the_leader_to_end_by_themselves(
    fleet: Fleet, app: Drumbeat
) -> None:
    async with fleet.running(app):
        runtime = app._state.runtime
        assert isinstance(runtime, FakeRuntime)
        await runtime.kill()
        await fleet.clock.advance(8)
        assert app.leadership.is_leader
        await fleet.clock.advance(1)
        assert not app.leadership.is_leader
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert "drumbeat-ticker" not in names
        assert "drumbeat-worker" in names
