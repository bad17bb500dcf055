"""The proxy of the queue that turns each call into a network request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket
from simulation.remote_backends import Connection

if TYPE_CHECKING:
    from simulation.faulty_queue import FaultyQueue

LOOK_EVERY = 0.25
"""Seconds between two requests of a receiver that waits."""


class RemoteQueue:
    """The queue as a process sees it, over the network."""

    carries = True

    def __init__(self, connection: Connection, queue: FaultyQueue) -> None:
        self._connection = connection
        self._queue = queue

    async def open(self) -> None:
        """Nothing to make ready."""

    async def close(self) -> None:
        """Nothing to release."""

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        await self._connection.ask("queue.publish", self._queue.publish, tuple(tickets))

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        while True:
            tickets: Sequence[Ticket] = await self._connection.ask(
                "queue.deliver", self._queue.deliver, tuple(queues), by, limit, tuple(done)
            )
            if tickets:
                return tickets
            done = ()
            await self._queue.server.clock.sleep(LOOK_EVERY)

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        await self._connection.ask("queue.acknowledge", self._queue.acknowledge, tickets, by)

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        asked = self._connection.ask("queue.reclaim", self._queue.reclaim, idle, limit)
        reclaimed: int = await asked
        return reclaimed

    async def count(self) -> int:
        count: int = await self._connection.ask("queue.count", self._queue.count)
        return count
