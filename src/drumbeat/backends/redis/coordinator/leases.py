"""RedisLeases: the terms of elections and locks, in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.coordinator.durations import microseconds, milliseconds, time_left
from drumbeat.backends.redis.coordinator.keys import Keys
from drumbeat.backends.redis.coordinator.scripts import SCRIPTS
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId


class RedisLeases:
    """One term at a time for each name."""

    def __init__(self, server: Server, keys: Keys, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._keys = keys
        self._waiter = waiter

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        keys = self._keys
        granted = await self._server.run(
            SCRIPTS["acquire"],
            (keys.term(name), keys.domain, keys.number, keys.history, keys.pause),
            name,
            candidate,
            microseconds(ttl),
            milliseconds(ttl),
            keys.channel,
        )
        if granted is None:
            return None
        domain, token = granted
        return Lease(name, candidate, domain.decode(), int(token), ttl)

    async def renew(self, lease: Lease) -> Lease | None:
        renewed = await self._server.run(
            SCRIPTS["renew"], self._where(lease.name), *_term(lease), milliseconds(lease.ttl)
        )
        return lease if renewed else None

    async def release(self, lease: Lease) -> bool:
        released = await self._server.run(
            SCRIPTS["release"],
            self._where(lease.name),
            *_term(lease),
            lease.name,
            self._keys.channel,
        )
        return bool(released)

    async def evict(self, lease: Lease) -> bool:
        return await self.release(lease)  # the script compares the term, no matter who asks

    async def current(self, name: str) -> Lease | None:
        held = await self._server.run(SCRIPTS["current"], self._where(name))
        if held is None:
            return None
        holder, token, ttl, domain = held
        length = timedelta(microseconds=int(ttl))
        return Lease(name, NodeId(holder.decode()), domain.decode(), int(token), length)

    def vacancies(self, name: str) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, f"lease {name}", lambda: self.vacancy(name))

    async def vacancy(self, name: str) -> tuple[int | None, timedelta | None]:
        """The number of the present vacancy; or None, and when to look again."""
        keys = self._keys
        number, left = await self._server.run(
            SCRIPTS["vacancy"], (keys.term(name), keys.number, keys.pause)
        )
        return (None, time_left(left)) if number is None else (int(number), None)

    def _where(self, name: str) -> tuple[str, str]:
        return self._keys.term(name), self._keys.domain


def _term(lease: Lease) -> tuple[str, int, str]:
    return lease.holder, lease.token, lease.domain
