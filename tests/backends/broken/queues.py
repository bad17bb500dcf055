"""Broken queues."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from drumbeat.backends.listeners import Listeners
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


class ForgetsWhatIsDone(MemoryQueue):
    """Does not acknowledge what a receiver says is done."""

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        return await super().receive(queues, by, limit)


class CountsOnlyWhatWaits(MemoryQueue):
    """Leaves out the tickets that a receiver has."""

    async def count(self) -> int:
        return await super().count() - len(self._unacknowledged)


class DeliversUrgentOnly(MemoryQueue):
    """Loses tickets of low priority."""

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        await super().publish([each for each in tickets if each.priority != 1])


class ReclaimsOnce(MemoryQueue):
    """Gives a ticket up that a second receiver did not acknowledge either."""

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        seen = self.__dict__.setdefault("_seen", set())
        for key in list(self._unacknowledged):
            if key[1] in seen:
                del self._unacknowledged[key]
            seen.add(key[1])
        return await super().reclaim(idle, limit)


class ReclaimsInSilence(MemoryQueue):
    """Wakes nobody when it brings tickets back."""

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        listeners, self._listeners = self._listeners, Listeners()
        try:
            return await super().reclaim(idle, limit)
        finally:
            self._listeners = listeners


class IgnoresQueues(MemoryQueue):
    """Delivers whatever there is."""

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        return await super().receive([*self._tickets, *queues], by, limit, done)


class IgnoresTheLimit(MemoryQueue):
    """Delivers all at once."""

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        return await super().receive(queues, by, 10**6, done)


class DeliversToEveryone(MemoryQueue):
    """Gives each ticket to two receivers."""

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        await super().publish([each for each in tickets for _ in range(2)])
