"""The listener: hears from the queue that jobs are ready, and wakes the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drumbeat.engine.bus import Bus
from drumbeat.engine.service import Service
from drumbeat.model.ids import NodeId
from drumbeat.model.job import LEADER_QUEUE
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime

BATCH = 1_000


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Who works, on which queues, and what to expect of the store."""

    node: NodeId
    queues: tuple[str, ...]
    poll: float | None = 1.0
    """Seconds to sleep at most without a hint."""
    writers: int = 1
    """How many writes the store can work on at once."""


class Listener(Service):
    """Turns tickets into wake-ups: what is really ready, the store says."""

    name = "listener"

    def __init__(
        self,
        settings: WorkerSettings,
        queue: Queue,
        ready: Callable[[], None],
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._node = settings.node
        self._queues = (*settings.queues, LEADER_QUEUE)
        self._queue = queue
        self._ready = ready

    async def once(self) -> float | None:
        """Wait for tickets and pass the word on."""
        tickets = await self._queue.receive(self._queues, self._node, BATCH)
        self._ready()
        if tickets:
            await self._queue.acknowledge(tickets, self._node)
        return 0.0
