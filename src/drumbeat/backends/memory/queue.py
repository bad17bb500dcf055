"""The memory queue: the executable specification of every queue that carries tickets.

A receiver holds the tickets that it takes until it acknowledges them. Tickets held for too long can
be reclaimed and go to the back of their queue. A late acknowledgement of a ticket that another
receiver has received since changes nothing, since deliveries are known by ticket *and* receiver.

Receiving takes tickets out and returns them without an await in between: a receiver that is
cancelled has either all of them or none. Every publication wakes all waiting receivers, so no
ticket is stuck because the one that was woken for it was cancelled at that moment.

A queue is bounded. If nobody receives, the oldest tickets are lost, which the contract allows: the
promoter publishes again what has been queued for long.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from threading import Lock

from drumbeat.backends.listeners import ANY, Listeners
from drumbeat.forks import renew_in_children
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket
from drumbeat.ports.clock import Clock

MOST_TICKETS = 100_000


class MemoryQueue:
    """A queue in the memory of one process, safe to share between its threads and their loops."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listeners = Listeners()
        self._closings = 0
        self._begin()
        renew_in_children(self._begin)

    def _begin(self) -> None:
        self._lock = Lock()
        self._tickets: dict[str, deque[Ticket]] = {}
        self._unacknowledged: dict[tuple[NodeId, Ticket], float] = {}
        """When each delivery was made, the oldest first."""

    carries = True

    async def open(self) -> None:
        """Nothing to make ready."""

    async def close(self) -> None:
        """Wake the waiting receivers; the tickets stay."""
        self._closings += 1
        self._listeners.wake()

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        with self._lock:
            for ticket in tickets:
                self._enqueue(ticket)
        if tickets:
            self._listeners.wake()

    async def receive(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket] = ()
    ) -> Sequence[Ticket]:
        await self.acknowledge(done, by)
        woken = asyncio.Event()
        closings = self._closings
        stop = self._listeners.add(ANY, woken.set)
        try:
            while not (tickets := self._deliver(queues, by, limit)):
                if self._closings != closings:
                    break
                await woken.wait()
                woken.clear()
            return tickets
        finally:
            stop()

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        with self._lock:
            for ticket in tickets:
                self._unacknowledged.pop((by, ticket), None)

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        with self._lock:
            since = self._clock.elapsed() - idle.total_seconds()
            over = [key for key, received in self._unacknowledged.items() if received <= since]
            for key in over[:limit]:
                del self._unacknowledged[key]
                self._enqueue(key[1])
        if over:
            self._listeners.wake()
        return len(over[:limit])

    async def count(self) -> int:
        with self._lock:
            return sum(map(len, self._tickets.values())) + len(self._unacknowledged)

    def _enqueue(self, ticket: Ticket) -> None:
        line = self._tickets.get(ticket.queue)
        if line is None:
            line = self._tickets[ticket.queue] = deque(maxlen=MOST_TICKETS)
        line.append(ticket)

    def _deliver(self, queues: Sequence[str], by: NodeId, limit: int) -> Sequence[Ticket]:
        with self._lock:
            tickets: list[Ticket] = []
            for queue in queues:
                line = self._tickets.get(queue)
                while line and len(tickets) < limit:
                    tickets.append(line.popleft())
            now = self._clock.elapsed()
            for ticket in tickets:
                self._unacknowledged.pop((by, ticket), None)  # so that the newest comes last
                self._unacknowledged[by, ticket] = now
            return tickets
