"""Tickets wake as many workers as there are jobs; the store's hints are the net below them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, Status, every
from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.engine.plumbing.watched_queue import AGAIN, PATIENCE
from drumbeat.engine.working.listener import HINT_PAUSE
from drumbeat.model.events import QueueAnswered, QueueFailed, TicketsRepublished
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Job, Ticket
from tests.engine.support.fleet import Fault, Fleet, Heard

BEFORE_HINTS = HINT_PAUSE / 2


@pytest.fixture
def queue(fleet: Fleet) -> MemoryQueue:
    return MemoryQueue(fleet.clock)


def worker(fleet: Fleet, queue: MemoryQueue, ran: list[str], **settings: Any) -> Drumbeat:
    """An app with the tasks `work`, which ends at once, and `wait`, which never does."""
    app = fleet.app(queue=queue, **settings)

    @app.task
    async def work() -> None:
        ran.append(app.settings.instance_id)

    @app.task
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    return app


async def submitted(app: Drumbeat, task: str = "work", **options: Any) -> Job:
    return await app.task_named(task).options(**options).submit()


@pytest.fixture
def ran() -> list[str]:
    """The nodes on which jobs ran."""
    return []


async def test_a_job_wakes_one_worker_of_many(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    apps = [worker(fleet, queue, ran) for _ in range(5)]
    async with fleet.running(*apps, roles=(Role.WORKER,)):
        take = Fault(fleet.store.jobs, "take")
        for count in range(1, 4):
            take.calls.clear()
            await submitted(apps[0])
            await fleet.clock.settle()
            assert len(ran) == count
            claims = [call for call in take.calls if call[0].limit and not call[2]]
            assert len({call[1] for call in claims}) == 1


async def test_a_full_worker_leaves_tickets_to_the_others(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    full, free = (worker(fleet, queue, ran, concurrency=1) for _ in range(2))
    async with fleet.running(full, roles=(Role.WORKER,)):
        await submitted(full, "wait")
        await fleet.clock.settle()
        async with fleet.running(free, roles=(Role.WORKER,)):
            for count in range(1, 5):
                await submitted(full)
                await fleet.clock.settle()
                assert ran == [free.settings.instance_id] * count


async def test_a_worker_that_became_full_hands_its_ticket_on(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    first = worker(fleet, queue, ran, concurrency=1)
    async with fleet.running(first, roles=(Role.WORKER,)):
        # It waits for a ticket, and becomes full by a job that had none.
        publish = Fault(queue, "publish").always("refuse")
        await submitted(first, "wait")
        await fleet.clock.advance(2 * HINT_PAUSE)
        publish.heal()
        async with fleet.running(
            worker(fleet, queue, ran, concurrency=1), roles=(Role.WORKER,)
        ) as second:
            await submitted(first)
            await submitted(first)
            await fleet.clock.advance(BEFORE_HINTS)
            assert ran == [second.settings.instance_id] * 2


async def test_a_job_whose_ticket_is_lost_starts_by_a_hint(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    async with fleet.running(worker(fleet, queue, ran)) as app:
        Fault(queue, "publish").always("refuse")
        await submitted(app)
        await fleet.clock.advance(BEFORE_HINTS)
        assert ran == []
        await fleet.clock.advance(BEFORE_HINTS * 1.2)
        assert len(ran) == 1


async def test_a_job_that_never_had_a_ticket_starts_by_a_hint(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    async with fleet.running(worker(fleet, queue, ran)) as app:
        await app.store.queues.pause("default", "test")
        job = await submitted(app)
        await fleet.clock.advance(10)
        assert ran == []
        await app.store.queues.resume("default")
        await fleet.clock.advance(HINT_PAUSE)
        assert (await app.jobs.get(job.id)).status is Status.COMPLETED


async def test_a_tick_wakes_a_worker_by_its_ticket(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    app = worker(fleet, queue, ran)
    lateness: list[float] = []

    @app.scheduled(every(seconds=10))
    async def tick(ctx: Context) -> None:
        assert ctx.tick_at is not None
        lateness.append((fleet.clock.now() - ctx.tick_at).total_seconds())

    async with fleet.running(app):
        await fleet.clock.advance(65)
    assert len(lateness) >= 5
    assert max(lateness) < BEFORE_HINTS


async def test_a_ticket_is_acknowledged_after_the_store_was_asked(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    async with fleet.running(worker(fleet, queue, ran)) as app:
        acknowledged = Fault(queue, "acknowledge")
        take = Fault(fleet.store.jobs, "take").hang()
        await submitted(app)
        await take.hanging.wait()
        await fleet.clock.settle()
        assert await queue.count() == 1
        assert not [call for call in acknowledged.calls if call[0]]
        take.heal()
        await fleet.clock.settle()
        assert (len(ran), await queue.count()) == (1, 0)


async def test_worthless_tickets_are_used_up_by_few_claims(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    async with fleet.running(worker(fleet, queue, ran, concurrency=10)) as app:
        take = Fault(fleet.store.jobs, "take")
        await queue.publish([Ticket(JobId(10**6 + number), "default") for number in range(20_000)])
        await submitted(app)
        await fleet.clock.settle()
        assert (len(ran), await queue.count()) == (1, 0)
        assert len(take.calls) < 40


class Away:
    """Lets every call of a queue fail, as a server that is away does."""

    def __init__(self, queue: MemoryQueue) -> None:
        self._faults = [
            Fault(queue, method).always("before")
            for method in ("publish", "receive", "acknowledge", "reclaim", "count")
        ]

    def heal(self) -> None:
        for fault in self._faults:
            fault.heal()

    @property
    def publications(self) -> int:
        return len(self._faults[0].calls)


async def test_while_the_queue_is_away_submissions_succeed_and_hints_wake_at_once(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    app = worker(fleet, queue, ran)
    heard = Heard(app)
    async with fleet.running(app):
        await submitted(app)
        await fleet.clock.settle()
        away = Away(queue)
        await queue.close()  # the connection on which the listener waits breaks, too
        await fleet.clock.advance(1)
        for count in range(2, 20):
            await submitted(app)
            await fleet.clock.settle()
            assert len(ran) == count
        await fleet.clock.advance(60)
        assert heard.of(QueueAnswered) == []
        failures = [event.failures for event in heard.of(QueueFailed)]
        assert failures == list(range(1, len(failures) + 1))
        assert len({event.since for event in heard.of(QueueFailed)}) == 1
        away.heal()
        await fleet.clock.advance(10)
        (answered,) = heard.of(QueueAnswered)
        assert answered.failures == len(failures)
        await submitted(app)
        await fleet.clock.settle()
        assert len(ran) == 20


async def test_publishing_is_tried_once_a_second_during_an_outage(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    app = worker(fleet, queue, ran)
    away = Away(queue)
    for _ in range(50):
        await submitted(app)
    assert away.publications == 1
    await fleet.clock.advance(AGAIN)
    await submitted(app)
    assert away.publications == 2


async def test_a_queue_that_hangs_delays_one_caller_by_a_second_at_most(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    app = worker(fleet, queue, ran)
    Fault(queue, "publish").always("hang")
    before = fleet.clock.elapsed()
    many: list[dict[str, Any]] = [{} for _ in range(3)]
    await fleet.clock.until(app.jobs.submit_many("work", many))
    assert fleet.clock.elapsed() - before <= PATIENCE + 0.01
    await app.jobs.submit_many("work", many)
    assert fleet.clock.elapsed() - before <= PATIENCE + 0.01


async def test_a_node_starts_while_its_queue_is_away(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    Fault(queue, "open").always("before")
    Away(queue)
    app = worker(fleet, queue, ran)
    heard = Heard(app)
    async with fleet.running(app):
        await submitted(app)
        await fleet.clock.advance(0.5)
        assert len(ran) == 1
        assert heard.of(QueueFailed)


async def test_jobs_that_are_queued_for_long_get_a_ticket_again(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    app = worker(fleet, queue, ran)
    heard = Heard(app)
    async with fleet.running(app):
        publish = Fault(queue, "publish")
        job = await submitted(app, queue="nobody")
        await fleet.clock.advance(70)
        assert heard.of(TicketsRepublished)
        again = [list(call[0]) for call in publish.calls[1:]]
        assert [Ticket(job.id, "nobody")] in again


async def test_a_receiver_that_dies_before_its_claim_leaves_its_ticket_to_others(
    fleet: Fleet, queue: MemoryQueue, ran: list[str]
) -> None:
    await queue.publish([Ticket(JobId(1), "default")])
    held = await queue.receive(["default"], NodeId("dead"), 1)
    assert [each.job_id for each in held] == [1]
    async with fleet.running(worker(fleet, queue, ran)):
        received = Fault(queue, "acknowledge")
        await fleet.clock.advance(70)
        assert [each for call in received.calls for each in call[0]] == held
        assert await queue.count() == 0
