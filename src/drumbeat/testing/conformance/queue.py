"""The suites of a queue: one for every queue, and one for those that carry tickets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import DEFAULT_QUEUE, Ticket
from drumbeat.ports.queue import Queue
from drumbeat.testing.conformance.builders import ANNE, BERT, let_others_run, race
from drumbeat.testing.conformance.traits import QueueTraits


def ticket(number: int, queue: str = DEFAULT_QUEUE) -> Ticket:
    return Ticket(JobId(number), queue)


async def receive(
    queue: Queue, by: NodeId = ANNE, limit: int = 100, queues: Sequence[str] = (DEFAULT_QUEUE,)
) -> Sequence[Ticket]:
    return await queue.receive(queues, by, limit)


async def collect(
    queue: Queue, count: int, by: NodeId = ANNE, queues: Sequence[str] = (DEFAULT_QUEUE,)
) -> list[Ticket]:
    """Receive until that many tickets have come: they may come one by one."""
    tickets: list[Ticket] = []
    while len(tickets) < count:
        tickets += await receive(queue, by, count - len(tickets), queues)
    return tickets


class QueueConformance:
    """A waiting receiver is woken, and cancelling it loses no ticket."""

    async def test_a_receiver_waits_until_there_is_something_to_look_at(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async with asyncio.timeout(traits.patience), asyncio.TaskGroup() as group:
            waiting = group.create_task(receive(queue))
            await let_others_run()
            assert not waiting.done()
            await traits.hint()
            await waiting

    async def test_what_comes_while_nobody_waits_is_not_lost(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await traits.hint()
        async with asyncio.timeout(traits.patience):
            await receive(queue)

    async def test_what_comes_between_two_calls_is_not_lost(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async with asyncio.timeout(traits.patience):
            for _ in range(3):
                await traits.hint()
                await receive(queue)

    async def test_a_cancelled_receiver_loses_nothing(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async with asyncio.timeout(traits.patience):
            for _ in range(20):
                async with asyncio.TaskGroup() as group:
                    waiting = group.create_task(receive(queue))
                    await let_others_run()
                    await traits.hint()
                    cancelled = waiting.cancel()
                if cancelled and waiting.cancelled():
                    await receive(queue)

    async def test_closing_ends_waiting_receivers_without_a_ticket(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async with asyncio.timeout(traits.patience), asyncio.TaskGroup() as group:
            waiting = group.create_task(receive(queue))
            await let_others_run()
            await queue.close()
        assert list(waiting.result()) == []

    async def test_a_queue_can_be_opened_again(self, queue: Queue, traits: QueueTraits) -> None:
        await queue.close()
        await queue.open()
        await queue.open()
        await traits.hint()
        async with asyncio.timeout(traits.patience):
            await receive(queue)

    async def test_publishing_and_acknowledging_nothing_is_harmless(self, queue: Queue) -> None:
        await queue.publish([])
        await queue.acknowledge([], ANNE)
        await queue.acknowledge([ticket(10**9)], ANNE)


class TicketQueueConformance(QueueConformance):
    """Each ticket goes to one receiver, and is delivered again until it is acknowledged."""

    async def test_a_ticket_comes_out_as_it_went_in(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        sent = [ticket(1, "mäil"), ticket(2, "mäil")]
        await queue.publish(sent)
        async with asyncio.timeout(traits.patience):
            assert await collect(queue, 2, queues=("mäil",)) == sent

    async def test_no_more_than_the_limit_are_received(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(number) for number in range(5)])
        async with asyncio.timeout(traits.patience):
            assert len(await receive(queue, limit=2)) <= 2

    async def test_only_tickets_of_the_wanted_queues_are_received(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1, "other"), ticket(2), ticket(3, "mail")])
        async with asyncio.timeout(traits.patience):
            received = await collect(queue, 2, queues=(DEFAULT_QUEUE, "mail"))
            assert sorted(each.job_id for each in received) == [2, 3]
            assert await collect(queue, 1, by=BERT, queues=("other",)) == [ticket(1, "other")]

    async def test_each_ticket_goes_to_one_of_many_receivers(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async def work(number: int) -> list[Ticket]:
            if number == 0:
                await queue.publish([ticket(each) for each in range(1, 15)])
                return []
            return await collect(queue, 2, by=NodeId(f"worker:{number}"))

        async with asyncio.timeout(traits.patience):
            received = await race(work)
        jobs = sorted(each.job_id for tickets in received for each in tickets)
        assert jobs == list(range(1, 15))

    async def test_an_acknowledged_ticket_does_not_come_again(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            await queue.acknowledge(await collect(queue, 1), ANNE)
        await traits.pass_time(traits.idle)
        assert await queue.reclaim(traits.idle, 10) == 0

    async def test_receiving_acknowledges_what_is_done(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            done = await collect(queue, 1)
            await queue.publish([ticket(2)])
            assert list(await queue.receive((DEFAULT_QUEUE,), ANNE, 10, done)) == [ticket(2)]
        await traits.pass_time(traits.idle)
        assert await queue.reclaim(traits.idle, 10) == 1

    async def test_tickets_count_until_they_are_acknowledged(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        assert await queue.count() == 0
        await queue.publish([ticket(1), ticket(2, "other")])
        assert await queue.count() == 2
        async with asyncio.timeout(traits.patience):
            done = await collect(queue, 1)
            assert await queue.count() == 2
            await queue.acknowledge(done, ANNE)
        assert await queue.count() == 1

    async def test_a_ticket_published_twice_is_delivered_and_acknowledged_twice(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            for by in (ANNE, BERT):
                await queue.acknowledge(await collect(queue, 1, by=by), by)
        assert await queue.count() == 0

    async def test_a_ticket_of_any_priority_is_received(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        sent = {Ticket(JobId(number), DEFAULT_QUEUE, number) for number in (0, 1, 49, 50, 100)}
        await queue.publish(list(sent))
        async with asyncio.timeout(traits.patience):
            received = await collect(queue, len(sent))
        assert set(received) == sent
        await queue.acknowledge(received, ANNE)
        assert await queue.count() == 0

    async def test_a_reclaimed_ticket_is_not_lost_if_its_new_receiver_stops_too(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            for by in (ANNE, BERT, ANNE):
                assert await collect(queue, 1, by=by) == [ticket(1)]
                await traits.pass_time(traits.idle)
                assert await queue.reclaim(traits.idle, 10) == 1

    async def test_a_ticket_that_was_not_acknowledged_is_brought_again(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1), ticket(2)])
        async with asyncio.timeout(traits.patience):
            first, _ = await collect(queue, 2)
            await queue.acknowledge([first], ANNE)
            await traits.pass_time(traits.idle)
            assert await queue.reclaim(traits.idle, 10) == 1
            assert await collect(queue, 1, by=BERT) == [ticket(2)]

    async def test_a_ticket_received_lately_is_not_reclaimed(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            await collect(queue, 1)
        assert await queue.reclaim(traits.idle * 1000, 10) == 0

    async def test_no_more_than_the_limit_are_reclaimed(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(number) for number in range(5)])
        async with asyncio.timeout(traits.patience):
            await collect(queue, 5)
        await traits.pass_time(traits.idle)
        assert await queue.reclaim(traits.idle, 3) == 3
        assert await queue.reclaim(traits.idle, 3) == 2

    async def test_a_reclaimed_ticket_wakes_a_receiver(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            await collect(queue, 1)
            await traits.pass_time(traits.idle)
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(collect(queue, 1, by=BERT))
                await let_others_run()
                await queue.reclaim(traits.idle, 10)
            assert waiting.result() == [ticket(1)]

    async def test_a_late_acknowledgement_does_not_touch_anothers_delivery(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(traits.patience):
            late = await collect(queue, 1, by=ANNE)
            await traits.pass_time(traits.idle)
            await queue.reclaim(traits.idle, 10)
            await collect(queue, 1, by=BERT)
        await queue.acknowledge(late, ANNE)
        await traits.pass_time(traits.idle)
        assert await queue.reclaim(traits.idle, 10) == 1

    async def test_a_cancelled_receiver_leaves_its_tickets_to_the_next(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async with asyncio.timeout(traits.patience):
            for number in range(20):
                async with asyncio.TaskGroup() as group:
                    waiting = group.create_task(receive(queue))
                    await let_others_run()
                    await queue.publish([ticket(number)])
                    waiting.cancel()
                received = [] if waiting.cancelled() else list(waiting.result())
                assert received or await collect(queue, 1, by=BERT) == [ticket(number)]

    async def test_a_ticket_published_to_a_cancelled_receiver_reaches_one_who_waits(
        self, queue: Queue, traits: QueueTraits
    ) -> None:
        async with asyncio.timeout(traits.patience), asyncio.TaskGroup() as group:
            first = group.create_task(receive(queue, by=ANNE))
            await let_others_run()
            second = group.create_task(collect(queue, 1, by=BERT))
            await let_others_run()
            await queue.publish([ticket(1)])
            if first.cancel():
                await asyncio.wait([first])
            if not first.cancelled():
                await queue.publish([ticket(1)])
        assert second.result() == [ticket(1)]
