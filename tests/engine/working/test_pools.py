"""Pools: jobs for processes are claimed for processes, and begun only when one is ready.

The children are fake ones, so that a test says when a child is ready and how long a call takes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from math import inf

import pytest

from drumbeat import Drumbeat, Job, Retry, Status
from drumbeat.engine.executing.run import Run
from drumbeat.engine.working.process_slots import SLOW_START, START_TIMEOUT
from drumbeat.model.errors import ProcessNotStarted
from drumbeat.model.events import AttemptStarted, ServiceFailed
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Change
from drumbeat.ports.clock import Clock
from drumbeat.testing import inside
from tests.engine.support import process_handlers as handlers
from tests.engine.support.fake_children import FakeProcesses
from tests.engine.support.fleet import Fault, Fleet, Heard, SkewedClock
from tests.engine.support.slow_store import Far

WORKER = (Role.WORKER,)
LONG = 10.0


class LateAlarms(SkewedClock):
    """The fleet's clock after the process has slept: time has passed, but no alarm has rung."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, timedelta(0))
        self.asleep = 0.0

    def elapsed(self) -> float:
        return super().elapsed() + self.asleep


async def at_once(_: Run) -> None: ...


async def statuses(app: Drumbeat, jobs: list[Job]) -> Counter[Status]:
    return Counter([(await app.jobs.get(job.id)).status for job in jobs])


async def test_no_more_jobs_are_claimed_for_processes_than_can_start(
    fleet: Fleet, far: Far
) -> None:
    app = fleet.app(concurrency=10, processes=2)
    add = app.task(process=True)(handlers.add)
    slept: list[int] = []

    async def perform(run: Run) -> None:
        await fleet.clock.sleep(0.01)  # quick, so that elsewhere more would be claimed ahead
        slept.append(run.attempt.job_id)

    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, perform)
        jobs = list(await add.submit_many([(n, n) for n in range(100)]))
        while (done := await statuses(app, jobs))[Status.COMPLETED] < len(jobs):
            assert done[Status.RUNNING] <= 2
            await fleet.clock.advance(0.001)
    assert children.started == 2
    assert slept == [job.id for job in jobs]
    process_takes = [wanted for wanted in far.wanted if "add" in wanted.tasks]
    assert {wanted.tasks for wanted in process_takes} == {frozenset({"add"})}
    assert max(wanted.limit for wanted in process_takes) == 2
    assert {wanted.ahead for wanted in process_takes} == {0}


async def test_long_jobs_for_processes_are_spread_over_all_nodes(fleet: Fleet) -> None:
    apps = [fleet.app(processes=1), fleet.app(processes=1)]
    tasks = [app.task(process=True)(handlers.add) for app in apps]

    async def perform(_: Run) -> None:
        await fleet.clock.sleep(LONG)

    async with fleet.running(*apps, roles=WORKER):
        pools = [FakeProcesses.of(app, perform) for app in apps]
        await tasks[0].submit_many([(n, n) for n in range(20)])
        await fleet.clock.until(apps[0].wait_until_idle(), "10m")
    assert [len(pool.begun) for pool in pools] == [10, 10]
    assert fleet.clock.elapsed() < 10 * LONG + 1


async def test_an_asynchronous_job_does_not_wait_behind_jobs_for_processes(fleet: Fleet) -> None:
    app = fleet.app(concurrency=1, processes=1)
    add = app.task(process=True)(handlers.add)

    @app.task
    async def quick() -> None: ...

    async def perform(_: Run) -> None:
        await fleet.clock.sleep(LONG)

    async with fleet.running(app, roles=WORKER):
        FakeProcesses.of(app, perform)
        await add.submit_many([(n, n) for n in range(20)])
        job = await quick.submit()
        await fleet.clock.settle()
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED
        assert fleet.clock.elapsed() == 0


async def test_a_job_for_a_process_does_not_wait_behind_a_backlog_of_others(fleet: Fleet) -> None:
    app = fleet.app(concurrency=1, processes=1)
    add = app.task(process=True)(handlers.add)

    @app.task
    async def slow() -> None:
        await fleet.clock.sleep(LONG)

    async with fleet.running(app, roles=WORKER):
        FakeProcesses.of(app, at_once)
        await slow.submit_many([()] * 20)
        await fleet.clock.settle()
        job = await add.submit(1, 1)
        await fleet.clock.settle()
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED
        assert fleet.clock.elapsed() == 0


async def test_a_backlog_of_quick_jobs_asks_for_nothing_in_a_pool_without_jobs(
    fleet: Fleet, far: Far
) -> None:
    """A second pool costs a node hardly anything as long as the store has nothing for it."""
    app = fleet.app(processes=2)
    app.task(process=True)(handlers.add)

    @app.task
    async def work() -> None: ...

    await work.submit_many([()] * 10_000)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert sum(far.sizes) == 10_000
    for_processes = [wanted for wanted in far.wanted if "add" in wanted.tasks]
    assert len(for_processes) < 10
    assert len(far.wanted) - len(for_processes) < 60  # as many as without the other pool


async def test_a_pool_with_nothing_to_do_takes_a_rate_limited_job_in_time(fleet: Fleet) -> None:
    """The store said when to ask again for one pool; another pool must not drown that."""
    app = fleet.app(processes=1)
    add = app.task(process=True, rate_limit="1/10s")(handlers.add)

    @app.task
    async def tick() -> None: ...

    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        first, second = await add.submit(1, 1), await add.submit(2, 2)
        for _ in range(10):
            await tick.submit()
            await fleet.clock.advance(1)
        await fleet.clock.advance(0.5)
        assert [run.attempt.job_id for run in children.begun] == [first.id, second.id]


async def test_nothing_is_told_as_started_before_its_process_is_ready(fleet: Fleet) -> None:
    app = fleet.app(processes=1)
    heard = Heard(app)
    add = app.task(process=True, timeout=1, retry=Retry.never())(handlers.add)
    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        children.gate.clear()
        job = await add.submit(1, 1)
        await fleet.clock.advance(START_TIMEOUT - 0.1)  # longer than its time-out
        assert heard.of(AttemptStarted) == []
        assert (await app.jobs.get(job.id)).status is Status.RUNNING
        (record,) = await app.nodes()
        assert (record.node.slots, record.node.busy) == (11, 0)
        children.gate.set()
        done = await fleet.done(app, job, "1s")
        assert (done.status, done.attempt, done.fence) == (Status.COMPLETED, 1, 1)
        assert len(heard.of(AttemptStarted)) == 1


async def test_a_job_goes_to_another_node_while_a_process_takes_long_to_start(
    fleet: Fleet,
) -> None:
    apps = [fleet.app(processes=1), fleet.app(processes=1)]
    tasks = [app.task(process=True, retry=Retry.never())(handlers.add) for app in apps]
    async with fleet.running(apps[0], roles=WORKER):
        slow = FakeProcesses.of(apps[0], at_once)
        slow.gate.clear()
        job = await tasks[0].submit(1, 1)
        await fleet.clock.advance(1)
        assert slow.asked.is_set()
        async with fleet.running(apps[1], roles=WORKER):
            other = FakeProcesses.of(apps[1], at_once)
            done = await fleet.done(apps[1], job, "10s")
            assert (done.status, done.attempt) == (Status.COMPLETED, 1)
            assert [len(slow.begun), len(other.begun)] == [0, 1]
            given_back, completed = await apps[1].jobs.attempts(job.id)
            assert (given_back.change, completed.change) == (Change.GIVE_BACK, Change.COMPLETE)
            # The first node claims nothing until its process is ready, and uses it then.
            after = await tasks[0].submit(2, 2)
            await fleet.clock.settle()
            assert (len(other.begun), len(slow.begun)) == (2, 0)
            assert (await apps[1].jobs.get(after.id)).fence == 1
        slow.gate.set()
        last = await fleet.done(apps[0], await tasks[0].submit(3, 3), "1s")
        assert (last.status, last.fence) == (Status.COMPLETED, 1)


async def test_a_job_that_is_cancelled_while_its_process_starts_is_never_begun(
    fleet: Fleet,
) -> None:
    app = fleet.app(processes=1)
    add = app.task(process=True)(handlers.add)
    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        children.gate.clear()
        job = await add.submit(1, 1)
        await fleet.clock.settle()
        await app.jobs.cancel(job.id)
        done = await fleet.done(app, job, "1s")
        assert done.status is Status.CANCELLED
        children.gate.set()
        await fleet.clock.advance(1)
        assert children.begun == []


async def test_a_node_that_stops_begins_nothing_more_during_its_grace(fleet: Fleet) -> None:
    app = fleet.app(processes=2)
    add = app.task(process=True, retry=Retry.never())(handlers.add)
    release = asyncio.Event()

    async def perform(_: Run) -> None:
        await release.wait()

    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, perform)
        first = await add.submit(0, 0)
        await fleet.clock.settle()
        children.gate.clear()
        others = list(await add.submit_many([(n, n) for n in range(5)]))
        await fleet.clock.settle()
        assert (await statuses(app, others))[Status.RUNNING] == 1  # its process is being started
        stopping = asyncio.ensure_future(app.stop(60.0))
        await fleet.clock.settle()
        children.gate.set()
        await fleet.clock.advance(10)
        assert [run.attempt.job_id for run in children.begun] == [first.id]
        assert await statuses(app, others) == {Status.QUEUED: 5}
        assert {(await app.jobs.get(job.id)).attempt for job in others} == {0}
        release.set()
        await fleet.clock.until(asyncio.wait_for(stopping, None))
        assert (await app.jobs.get(first.id)).status is Status.COMPLETED


async def test_a_node_that_the_store_has_not_heard_of_begins_nothing(fleet: Fleet) -> None:
    """It slept while its process started; by now another node may have run the job."""
    app = fleet.app(processes=1)
    add = app.task(process=True)(handlers.add)
    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        children.gate.clear()
        job = await add.submit(1, 1)
        await fleet.clock.settle()
        node = inside.node(app)
        assert node is not None
        state = node._parts.state  # pyright: ignore[reportPrivateUsage]
        last_beat_at, state.last_beat_at = state.last_beat_at, -inf
        children.gate.set()
        await fleet.clock.settle()
        assert children.begun == []
        given_back = await app.jobs.get(job.id)
        assert (given_back.status, given_back.attempt) == (Status.QUEUED, 0)
        state.last_beat_at = last_beat_at
        assert (await fleet.done(app, job, "2s")).status is Status.COMPLETED


async def test_a_job_that_has_become_too_old_is_not_begun(fleet: Fleet) -> None:
    """The process is ready before the loop comes to the alarm that would give the job back."""
    late = LateAlarms(fleet.clock)
    app = fleet.app(clock=late, processes=1)
    add = app.task(process=True)(handlers.add)
    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        children.gate.clear()
        job = await add.submit(1, 1)
        await fleet.clock.settle()
        late.asleep = START_TIMEOUT
        children.gate.set()
        await fleet.clock.settle()
        assert [run.attempt.hold.fence for run in children.begun] == [2]  # it was claimed anew
        first, second = await app.jobs.attempts(job.id)
        assert (first.change, second.change) == (Change.GIVE_BACK, Change.COMPLETE)


@pytest.mark.parametrize("count", [1, 6])
async def test_the_death_of_a_node_fails_only_what_it_had_begun(fleet: Fleet, count: int) -> None:
    one, two = fleet.app(processes=1), fleet.app(processes=1)
    adds = [app.task(process=True, retry=Retry.never())(handlers.add) for app in (one, two)]

    async def perform(_: Run) -> None:
        await fleet.clock.sleep(LONG)

    async with fleet.running(two):
        await fleet.clock.until(two.stop(0.0))
        await one.start(WORKER)
        FakeProcesses.of(one, perform)
        jobs = list(await adds[0].submit_many([(n, n) for n in range(count)]))
        await fleet.clock.advance(1)
        node = inside.node(one)
        assert node is not None
        await node.crash()
        await two.start()
        FakeProcesses.of(two, at_once)
        await fleet.clock.until(two.wait_until_idle(), "5m")
        expected = Counter({Status.FAILED: 1, Status.COMPLETED: count - 1})
        assert await statuses(two, jobs) == expected


async def test_a_process_that_does_not_start_costs_no_attempt_and_is_tried_again_after_a_pause(
    fleet: Fleet,
) -> None:
    app = fleet.app(processes=1)
    heard = Heard(app)
    add = app.task(process=True, retry=Retry.never())(handlers.add)
    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        children.errors = [ProcessNotStarted(1), OSError("no memory"), ProcessNotStarted(1)]
        job = await add.submit(1, 1)
        await fleet.clock.settle()
        waiting = await app.jobs.get(job.id)
        assert (waiting.status, waiting.attempt, waiting.fence) == (Status.QUEUED, 0, 1)
        done = await fleet.done(app, job, "10s")
        assert (done.status, done.attempt, done.fence) == (Status.COMPLETED, 1, 4)
        failed = [(event.service, event.failures) for event in heard.of(ServiceFailed)]
        assert failed == [("processes", 1), ("processes", 2), ("processes", 3)]
        assert fleet.clock.elapsed() >= 0.5 + 1 + 2


async def test_a_process_that_takes_very_long_to_start_is_reported(fleet: Fleet) -> None:
    app = fleet.app(processes=1)
    heard = Heard(app)
    add = app.task(process=True)(handlers.add)
    async with fleet.running(app, roles=WORKER):
        children = FakeProcesses.of(app, at_once)
        children.gate.clear()
        await add.submit(1, 1)
        await fleet.clock.advance(SLOW_START - 1)
        assert heard.of(ServiceFailed) == []
        await fleet.clock.advance(2)
        (failed,) = heard.of(ServiceFailed)
        assert "not ready" in str(failed.error)


async def test_a_claim_for_processes_whose_answer_got_lost_is_given_back(fleet: Fleet) -> None:
    app = fleet.app(processes=1)
    add = app.task(process=True, retry=Retry.never())(handlers.add)
    async with fleet.running(app, roles=WORKER):
        FakeProcesses.of(app, at_once)
        take = Fault(fleet.store.jobs, "take")
        take.modes += ["", "after"]  # the second take is for the processes
        done = await fleet.done(app, await add.submit(1, 1), "10s")
        assert [call[0].tasks == frozenset({"add"}) for call in take.calls[:2]] == [False, True]
        assert (done.status, done.attempt, done.fence) == (Status.COMPLETED, 1, 2)


async def test_threads_can_have_slots_of_their_own(fleet: Fleet) -> None:
    app = fleet.app(concurrency=1, threads=2, processes=1)
    release = asyncio.Event()
    ran: list[str] = []

    @app.task
    async def hold() -> None:
        await release.wait()

    @app.task
    def synchronous() -> None:
        ran.append("synchronous")

    async with fleet.running(app, roles=WORKER):
        await hold.submit_many([()] * 3)
        await fleet.clock.settle()
        job = await synchronous.submit()
        await fleet.clock.settle()
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED
        await fleet.clock.advance("1m")
        (record,) = await app.nodes()
        assert (record.node.slots, record.node.busy) == (3, 1)
        release.set()
        await fleet.clock.until(app.wait_until_idle())


async def test_the_slots_of_a_node_are_those_of_its_tasks(fleet: Fleet) -> None:
    """Processes count only where a task may use them."""
    app = fleet.app(concurrency=4, processes=2)
    async with fleet.running(app, roles=WORKER):
        (record,) = await app.nodes()
        assert record.node.slots == 4
        app.task(process=True)(handlers.add)
        await fleet.clock.advance(10)
        (record,) = await app.nodes()
        assert record.node.slots == 6
        node = inside.node(app)
        assert node is not None
        assert node.load == (6, 0)
