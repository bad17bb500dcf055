"""The queue of a memory world, which loses, repeats and mixes tickets, fails and is emptied.

In half of the worlds it never gets better, since jobs must not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import inf

from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Ticket
from simulation.clock import ProcessClock
from simulation.faults import OF_QUEUES, SHARE_OF_QUEUES, Fault, of_queues
from simulation.history import History
from simulation.loop import Lane
from simulation.network import Server
from simulation.randomness import Random, random_for
from simulation.remote_backends import Connection
from simulation.remote_queue import RemoteQueue


class FaultyQueue(MemoryQueue):
    """The memory queue on a server of its own, with the faults of its world."""

    def __init__(self, clock: ProcessClock, history: History, random: Random, until: float) -> None:
        super().__init__(clock)
        self.server = Server("queue", Lane("queue"), clock)
        self._history = history
        self._random = random
        for_ever = random.random() < 0.5
        self._until = inf if for_ever else until
        self.kinds = of_queues(random)
        starts = [random.uniform(0, until) for _ in range(3)]
        lengths = (0.5, 4.0, 20.0, inf) if for_ever else (0.5, 4.0, 20.0)
        self._outages = [(start, start + random.choice(lengths)) for start in starts]
        self._empties = sorted(random.uniform(0, until) for _ in range(3))

    def seen_by(self, connection: Connection) -> RemoteQueue:
        """The queue as one process sees it."""
        return RemoteQueue(connection, self)

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        self._suffer()
        await super().publish(self._mixed(tickets))

    async def deliver(
        self, queues: Sequence[str], by: NodeId, limit: int, done: Sequence[Ticket]
    ) -> Sequence[Ticket]:
        """What `receive` returns, without waiting."""
        self._suffer()
        await super().acknowledge(done, by)
        return self._deliver(queues, by, limit)

    async def acknowledge(self, tickets: Sequence[Ticket], by: NodeId) -> None:
        self._suffer()
        await super().acknowledge(tickets, by)

    async def reclaim(self, idle: timedelta, limit: int) -> int:
        self._suffer()
        reclaimed = await super().reclaim(idle, limit)
        self._happened("a ticket was reclaimed", times=reclaimed)
        return reclaimed

    def _suffer(self) -> None:
        """Fail, or lose everything, if it is time to."""
        now = self._clock.elapsed()
        if Fault.QUEUE_EMPTIED in self.kinds and self._empties and self._empties[0] <= now:
            self._empties.pop(0)
            self._tickets.clear()
            self._unacknowledged.clear()
            self._history.faults[Fault.QUEUE_EMPTIED] += 1
        if Fault.QUEUE_OUTAGE in self.kinds and now < self._until:
            for start, end in self._outages:
                if start <= now < end:
                    self._history.faults[Fault.QUEUE_OUTAGE] += 1
                    raise Unavailable("queue: out of order")

    def _mixed(self, tickets: Sequence[Ticket]) -> Sequence[Ticket]:
        """The tickets, some lost and some doubled, in another order."""
        if Fault.TICKETS not in self.kinds or self._clock.elapsed() >= self._until:
            return tickets
        mixed: list[Ticket] = []
        for ticket in tickets:
            times = self._random.choice((0, 0, 1, 1, 1, 2))
            mixed += [ticket] * times
            self._happened("a ticket was lost", times=int(times == 0))
            self._happened("a ticket came twice", times=int(times == 2))
        self._random.shuffle(mixed)
        self._history.faults[Fault.TICKETS] += 1
        return mixed

    def _happened(self, what: str, times: int) -> None:
        if times:
            self._history.rare_events[what] += times


def queue_of(clock: ProcessClock, history: History, until: float) -> FaultyQueue | None:
    """The queue of a world; None: its store is the queue."""
    random = random_for(history.seed, "queue")
    if random.random() >= SHARE_OF_QUEUES:
        return None
    queue = FaultyQueue(clock, history, random, until)
    history.kinds |= queue.kinds & OF_QUEUES
    return queue
