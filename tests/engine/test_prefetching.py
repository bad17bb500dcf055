"""Holding more than the slots can start: how far it goes, and who must never suffer from it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, Job, Retry, Status
from drumbeat.engine.buffer import Buffer
from drumbeat.engine.bus import Bus
from drumbeat.engine.executor import Executor
from drumbeat.engine.registry import Registry
from drumbeat.engine.slots import TURN, Slots
from drumbeat.model.events import AttemptEnded, AttemptSuperseded, ServiceFailed
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.job import LEADER_QUEUE, Attempt, Change, Hold, JobSpec, Settlement, Wanted
from drumbeat.model.node import Role
from drumbeat.rules.prefetching import MOST_AHEAD, PATIENCE
from drumbeat.testing import inside
from drumbeat.testing.clock import START, FakeClock
from drumbeat.testing.gate import Gate, NodeClock
from drumbeat.testing.runtime import FakeRuntime

from .support import Fleet, Heard, SkewedClock

WORKER = (Role.WORKER,)
LATENCY = 0.001


class Far:
    """Lets each take of a store need a millisecond, as over a network, and keeps a record."""

    def __init__(self, fleet: Fleet) -> None:
        self._clock = fleet.clock
        self._take: Any = fleet.store.jobs.take
        self.wanted: list[Wanted] = []
        self.settled: list[Sequence[Settlement]] = []
        self.given: list[Sequence[Attempt]] = []
        fleet.store.jobs.take = self.take  # type: ignore[method-assign, assignment]

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement] = (), at: None = None
    ) -> Any:
        await self._clock.sleep(LATENCY / 2)
        taken = await self._take(wanted, by, settled, at)
        self.wanted.append(wanted)
        self.settled.append(settled)
        self.given.append(taken.attempts)
        await self._clock.sleep(LATENCY / 2)
        return taken

    @property
    def sizes(self) -> list[int]:
        return [len(attempts) for attempts in self.given]


@pytest.fixture
def far(fleet: Fleet) -> Far:
    return Far(fleet)


class Flood:
    """Jobs that are over at once, then some that fill all slots, then more that are over at once.

    A node that works on them alone comes to rest with all slots taken and its buffer full.
    """

    def __init__(self, fleet: Fleet, slots: int = 2) -> None:
        self.fleet = fleet
        self.slots = slots
        self.ran: Counter[int] = Counter()
        self.ran_by: dict[int, str] = {}
        self.gates = [asyncio.Event() for _ in range(slots)]
        self.blocked = 0
        self.blockers: Sequence[Job] = ()
        self.behind: Sequence[Job] = ()

    def app(self) -> Drumbeat:
        app = self.fleet.app(concurrency=self.slots)

        @app.task
        async def quick(ctx: Context) -> None:
            self.ran[ctx.job_id] += 1
            self.ran_by[ctx.job_id] = app.settings.instance_id

        @app.task
        async def block() -> None:
            gate = self.gates[self.blocked % self.slots]
            self.blocked += 1
            await gate.wait()

        return app

    def open(self) -> None:
        for gate in self.gates:
            gate.set()

    async def fill(self, app: Drumbeat) -> None:
        """Bring the node to where its slots are blocked and its buffer is full."""
        await app.jobs.submit_many("quick", [()] * 400)
        self.blockers = await app.jobs.submit_many("block", [()] * self.slots)
        self.behind = await app.jobs.submit_many("quick", [()] * 300)
        for _ in range(1000):
            if self.blocked == self.slots:
                await self.fleet.clock.advance(0.01)  # the store hears of what has ended
                return
            await self.fleet.clock.advance(LATENCY)
        raise AssertionError("the slots were never blocked")


async def held(fleet: Fleet, app: Drumbeat) -> set[JobId]:
    return {attempt.job_id for attempt in await fleet.store.jobs.held(app.id)}


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


async def test_what_waits_behind_slow_jobs_goes_to_another_node_within_the_patience(
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


async def test_the_event_loop_has_its_turn_while_a_full_buffer_is_run(
    fleet: Fleet, far: Far
) -> None:
    app = fleet.app(concurrency=20)
    loop = asyncio.get_running_loop()
    ran = 0
    waited: list[int] = []

    @app.task
    async def work() -> None:
        nonlocal ran
        ran += 1
        if ran % 200 == 0:
            asked_at = ran
            loop.call_soon(lambda: waited.append(ran - asked_at))

    await work.submit_many([()] * 5_000)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert max(far.sizes) > 4 * TURN
    assert max(waited) <= 2 * TURN


class BlockedClock(SkewedClock):
    """A clock on which a handler can let time pass that it does not share with anybody."""

    lag = 0.0

    def elapsed(self) -> float:
        return super().elapsed() + self.lag

    def block(self, seconds: float) -> None:
        self.lag += seconds


@pytest.mark.parametrize("seconds", [0.03, 0.06, 0.3])
async def test_handlers_that_keep_the_loop_to_themselves_hold_nobody_up_and_fill_all_slots(
    fleet: Fleet, far: Far, seconds: float
) -> None:
    """Free slots that start nothing: what waits for them goes back, and they are filled anew."""
    clock = BlockedClock(fleet.clock, timedelta(0))
    app = fleet.app(clock, concurrency=20)

    @app.task
    async def work() -> None:
        clock.block(seconds)
        await fleet.clock.sleep(3600)

    jobs = await work.submit_many([()] * 40)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.advance(5)
        now = [await app.jobs.get(job.id) for job in jobs]
        assert sum(job.status is Status.RUNNING for job in now) == 20
        assert {job.attempt for job in now} == {0, 1}
        # The first bite is the only one that was too large by far.
        given_back = [each for batch in far.settled for each in batch]
        assert {each.change for each in given_back} <= {Change.GIVE_BACK}
        assert len(given_back) <= 30


@pytest.mark.parametrize("second", range(2, 20))
async def test_slots_are_filled_however_the_allowance_falls_meanwhile(
    fleet: Fleet, far: Far, second: int
) -> None:
    """One handler keeps the loop until the node gives up, a later one not quite so long."""
    clock = BlockedClock(fleet.clock, timedelta(0))
    app = fleet.app(clock, concurrency=20)
    started = 0

    @app.task
    async def work() -> None:
        nonlocal started
        started += 1
        clock.block({1: 0.3, second: 0.15}.get(started, 0.0))
        await fleet.clock.sleep(3600)

    await work.submit_many([()] * 40)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.advance(1)
        assert started == 20


def attempt(number: int, queue: str = "default") -> Attempt:
    return Attempt(
        Hold(JobId(number), 1), 1, JobSpec("work", queue=queue), NodeId("n:1"), START, START
    )


async def test_an_attempt_that_grew_old_while_the_process_slept_does_not_start(
    clock: FakeClock,
) -> None:
    gate = Gate()
    handed_back: list[Attempt] = []
    buffer = Buffer(NodeClock(clock, gate), handed_back.append)
    buffer.put([attempt(1), attempt(2)])
    assert buffer.next() == attempt(1)
    gate.close()
    await clock.advance(60)
    buffer.put([attempt(3)])  # on waking, before any alarm has rung
    assert buffer.next() == attempt(3)
    assert buffer.next() is None
    assert handed_back == [attempt(2)]
    assert buffer.gave_up


async def test_one_alarm_hands_back_each_at_its_time(clock: FakeClock) -> None:
    handed_back: list[int] = []
    buffer = Buffer(clock, lambda each: handed_back.append(each.job_id))
    for number in range(3):
        buffer.put([attempt(number)])
        await clock.advance(PATIENCE / 4)
    assert handed_back == []
    await clock.advance(0.001)
    for number in range(3):
        await clock.advance(PATIENCE / 4)
        assert handed_back == list(range(number + 1))
    assert buffer.count == 0


async def test_the_leaders_own_jobs_that_wait_go_back_alone(clock: FakeClock) -> None:
    bus = Bus(clock)
    slots = Slots(1, Registry(), Executor(bus, 1), FakeRuntime(clock), bus)
    slots.give([attempt(1, LEADER_QUEUE), attempt(2), attempt(3, LEADER_QUEUE)])
    slots.give_back_waiting("leadership was lost", LEADER_QUEUE)
    assert [(each.hold.job_id, each.change) for each in slots.settled] == [
        (1, Change.GIVE_BACK),
        (3, Change.GIVE_BACK),
    ]
    assert slots.unended == (Hold(JobId(2), 1),)
    assert slots.waiting == 1
    assert {hold.job_id for hold in slots.holds} == {1, 2, 3}
