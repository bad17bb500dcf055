"""The queue listener: receives tickets for ready jobs, and wakes the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import LEADER_QUEUE
from drumbeat.ports.queue import Queue

BATCH = 1_000


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Which node works on which queues, and what the store can do."""

    node: NodeId
    queues: tuple[str, ...]
    poll: float | None = 1.0
    """Seconds to sleep at most without a hint."""
    writers: int = 1
    """How many writes the store can work on at once."""


class QueueListener(Service):
    """Turns tickets into wake-ups; the store decides what is really ready."""

    name = "queue-listener"

    def __init__(
        self,
        settings: WorkerSettings,
        queue: Queue,
        ready: Callable[[], None],
        context: ServiceContext,
    ) -> None:
        super().__init__(context)
        self._node = settings.node
        self._queues = (*settings.queues, LEADER_QUEUE)
        self._queue = queue
        self._ready = ready

    async def once(self) -> float | None:
        """Wait for tickets, then wake the worker."""
        tickets = await self._queue.receive(self._queues, self._node, BATCH)
        self._ready()
        if tickets:
            await self._queue.acknowledge(tickets, self._node)
        return 0.0
