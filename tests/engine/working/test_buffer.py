"""The buffer: what was taken ahead starts in time, or goes back."""

from __future__ import annotations

from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.task import Place
from drumbeat.engine.working.attempt_runner import AttemptRunner
from drumbeat.engine.working.attempts import Attempts
from drumbeat.engine.working.buffer import Buffer
from drumbeat.engine.working.pools import ExecutionPools, SlotPool
from drumbeat.engine.working.slots import Slots
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import LEADER_QUEUE, Attempt, Change, Hold, JobSpec
from drumbeat.rules.jobs.prefetch_limit import PATIENCE
from drumbeat.testing.clock import START, FakeClock
from drumbeat.testing.gate import Gate, NodeClock
from drumbeat.testing.runtime import FakeRuntime


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
    attempts, registry = Attempts(ServiceContext(FakeRuntime(clock), bus)), TaskRegistry()
    slots = Slots(1, AttemptRunner(registry, Executor(bus), attempts))
    pools = ExecutionPools([SlotPool(frozenset(Place), slots, registry)], attempts)
    slots.give([attempt(1, LEADER_QUEUE), attempt(2), attempt(3, LEADER_QUEUE)])
    pools.give_back_waiting("leadership was lost", LEADER_QUEUE)
    assert [(each.hold.job_id, each.change) for each in attempts.settled] == [
        (1, Change.GIVE_BACK),
        (3, Change.GIVE_BACK),
    ]
    assert pools.unended == (Hold(JobId(2), 1),)
    assert pools.waiting == 1
    assert {hold.job_id for hold in pools.holds} == {1, 2, 3}
