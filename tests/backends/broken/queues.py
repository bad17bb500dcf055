"""Broken queues."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.backends.store_queue import StoredQueue
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket


class AcknowledgesOnReceipt(MemoryQueue):
    """Forgets a ticket as soon as somebody has it."""

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        tickets = await super().receive(queues, by, limit, done)
        await self.acknowledge(tickets, by)
        return tickets


class AcknowledgesForAnyone(MemoryQueue):
    """Knows deliveries by their ticket only."""

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        for receiver, ticket in list(self._unacknowledged):
            if ticket in tickets:
                del self._unacknowledged[receiver, ticket]


class DeafWhileNobodyWaits(StoredQueue):
    """Hears only the hints that come while a receiver waits."""

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        self._seen[by] = self._hints
        return await super().receive(queues, by, limit, done)
