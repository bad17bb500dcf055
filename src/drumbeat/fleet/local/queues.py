"""Queues of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.queue_rates import queue_with_rate
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import InvalidInput, UnknownQueue
from drumbeat.model.jobs.queue import QueueRecord
from drumbeat.wire.queue import QueueView

LONGEST_NAME = 200


class LocalQueues:
    """Implements `FleetQueues`."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._queues = services.store.queues
        self._rates = services.rates
        self._trail = trail

    async def list(self) -> Sequence[QueueView]:
        seen = await self._queues.list()
        views = [queue_with_rate(record, seen, self._rates) for record in seen.queues]
        self._rates.note(seen)
        return views

    async def get(self, name: str) -> QueueView:
        seen = await self._queues.list()
        for record in seen.queues:
            if record.name == name:
                view = queue_with_rate(record, seen, self._rates)
                self._rates.note(seen)
                return view
        raise UnknownQueue(name)

    async def pause(self, name: str, reason: str = "") -> QueueView:
        async with self._trail.change("queue.pause", name, reason) as because:
            _check_name(name)
            await self._queues.pause(name, because)
            return await self._one(name)

    async def resume(self, name: str, reason: str = "") -> QueueView:
        async with self._trail.change("queue.resume", name, reason):
            _check_name(name)
            await self._queues.resume(name)
            return await self._one(name)

    async def _one(self, name: str) -> QueueView:
        seen = await self._queues.list()
        found = next((each for each in seen.queues if each.name == name), QueueRecord(name))
        return queue_with_rate(found, seen, self._rates)


def _check_name(name: str) -> None:
    if len(name) > LONGEST_NAME:
        rule = f"at most {LONGEST_NAME} characters"
        raise InvalidInput(f"a queue's name has {rule}", parameter="name", rule=rule)
