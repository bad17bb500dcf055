"""The queues of a remote fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.remote.resource import RemoteResource
from drumbeat.wire.queue import QueueView


class RemoteQueues(RemoteResource):
    """Implements `FleetQueues`."""

    async def list(self) -> Sequence[QueueView]:
        """All queues that have or had jobs, or that are paused, by name."""
        return await self._get(list[QueueView], "queues")

    async def get(self, name: str) -> QueueView:
        """The queue; `UnknownQueue` if it never had a job and is not paused."""
        return await self._get(QueueView, "queues", name)

    async def pause(self, name: str, reason: str = "") -> QueueView:
        """Let no worker claim jobs of a queue. Running jobs go on; new ones wait."""
        return await self._post(QueueView, "queues", name, "pause", body={"reason": reason})

    async def resume(self, name: str, reason: str = "") -> QueueView:
        """Let workers claim jobs of a queue again. A queue that is not paused stays as it is."""
        return await self._post(QueueView, "queues", name, "resume", body={"reason": reason})
