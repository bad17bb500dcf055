"""The memory queue and the stored queue against the suites of queues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count

import pytest

from drumbeat.backends.memory import queue as memory
from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.store_queue import StoredQueue
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import DEFAULT_QUEUE, Ticket
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Topic
from drumbeat.testing.conformance import QueueConformance, QueueTraits, TicketQueueConformance
from drumbeat.testing.conformance.builders import ANNE, BERT, insert, let_others_run, spec

from .hand_clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


class TestMemoryQueue(TicketQueueConformance):
    @pytest.fixture
    async def queue(self, clock: HandClock) -> AsyncIterator[Queue]:
        queue = MemoryQueue(clock)
        await queue.open()
        yield queue
        await queue.close()

    @pytest.fixture
    def traits(self, queue: Queue, clock: HandClock) -> QueueTraits:
        numbers = count(1000)

        async def hint() -> None:
            await queue.publish([Ticket(JobId(next(numbers)), DEFAULT_QUEUE)])

        return QueueTraits(clock.advance, hint)

    async def test_a_line_that_nobody_receives_from_is_bounded(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(memory, "MOST_TICKETS", 3)
        await queue.publish([Ticket(JobId(number), "mail") for number in range(10)])
        received = await queue.receive(["mail"], ANNE, 100)
        assert [ticket.job_id for ticket in received] == [7, 8, 9]


class TestStoredQueue(QueueConformance):
    @pytest.fixture
    def store(self, clock: HandClock) -> MemoryStore:
        return MemoryStore(clock)

    @pytest.fixture
    async def queue(self, store: MemoryStore) -> AsyncIterator[Queue]:
        queue = StoredQueue(lambda wake: store.subscribe(Topic.JOBS, wake))
        await queue.open()
        yield queue
        await queue.close()

    @pytest.fixture
    def traits(self, store: MemoryStore, clock: HandClock) -> QueueTraits:
        async def hint() -> None:
            await insert(store, spec())

        return QueueTraits(clock.advance, hint)

    async def test_many_hints_wake_a_receiver_once(self, queue: Queue, traits: QueueTraits) -> None:
        for _ in range(5):
            await traits.hint()
        async with asyncio.timeout(traits.patience), asyncio.TaskGroup() as group:
            assert await queue.receive([DEFAULT_QUEUE], ANNE, 10) == ()
            waiting = group.create_task(_receive(queue))
            await let_others_run()
            assert not waiting.done()
            await traits.hint()

    async def test_a_hint_wakes_every_receiver(self, queue: Queue, traits: QueueTraits) -> None:
        await traits.hint()
        async with asyncio.timeout(traits.patience):
            await queue.receive([DEFAULT_QUEUE], ANNE, 10)
            await queue.receive([DEFAULT_QUEUE], BERT, 10)


async def _receive(queue: Queue) -> None:
    await queue.receive([DEFAULT_QUEUE], ANNE, 10)
