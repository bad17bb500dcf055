"""The protocol for queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.wire.queue import QueueView


class FleetQueues(Protocol):
    """Look at queues, and pause them."""

    @endpoint("GET /queues", "List queues with their depth, oldest age and rates")
    async def list(self) -> Sequence[QueueView]:
        """All queues that have or had jobs, or that are paused, by name."""
        ...

    @endpoint("GET /queues/{name}", "Show a queue")
    async def get(self, name: str) -> QueueView:
        """The queue; `UnknownQueue` if it never had a job and is not paused."""
        ...

    @endpoint("POST /queues/{name}/pause", "Pause a queue; running jobs continue")
    async def pause(self, name: str, reason: str = "") -> QueueView:
        """Let no worker claim jobs of a queue. Running jobs go on; new ones wait."""
        ...

    @endpoint("POST /queues/{name}/resume", "Resume a queue")
    async def resume(self, name: str, reason: str = "") -> QueueView:
        """Let workers claim jobs of a queue again. A queue that is not paused stays as it is."""
        ...
