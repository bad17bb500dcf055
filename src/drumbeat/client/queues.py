"""Queues, asked of a server."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.client.asking import Noun
from drumbeat.client.moment import now_of
from drumbeat.client.request import path_of
from drumbeat.model.errors import NotFound
from drumbeat.model.queue import PausedQueue, QueueRecord, Queues
from drumbeat.wire.queue import QueueView, queue_of


class QueuesOfServer(Noun):
    """What can be asked of queues."""

    async def list(self) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        views = (await self._get(path_of("queues"))).read(list[QueueView])
        for view in views:
            if view.oldest_at is not None and view.oldest_age_seconds:
                as_of = view.oldest_at + timedelta(seconds=view.oldest_age_seconds)
                break
        else:
            as_of = await now_of(self._exchange)
        return Queues(as_of, tuple(queue_of(view) for view in views))

    async def get(self, name: str) -> QueueRecord:
        """The queue; `NotFound` if no job was ever in it."""
        return queue_of((await self._get(path_of("queues", name), about=name)).read(QueueView))

    async def pause(self, name: str, reason: str = "") -> PausedQueue:
        """Claim no job of a queue any more. Those that run go on; new ones wait."""
        answer = await self._post(path_of("queues", name, "pause"), {"reason": reason}, name)
        paused = queue_of(answer.read(QueueView)).paused
        return paused or PausedQueue(reason, await now_of(self._exchange))

    async def resume(self, name: str, reason: str = "") -> PausedQueue | None:
        """Claim jobs of a queue again; None: it was not paused."""
        try:
            before = (await self.get(name)).paused
        except NotFound:
            before = None
        await self._post(path_of("queues", name, "resume"), {"reason": reason}, name)
        return before
