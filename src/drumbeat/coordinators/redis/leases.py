"""Leases: the Redis coordinator's terms of elections and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.redis.keys import Keys
from drumbeat.coordinators.redis.lengths import microseconds, milliseconds, time_left
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.redis.scripts import Scripts
from drumbeat.redis.server import Server

SCRIPTS = Scripts("drumbeat.coordinators.redis.scripts")
ACQUIRE = SCRIPTS.named("acquire")
RENEW = SCRIPTS.named("renew")
RELEASE = SCRIPTS.named("release")
CURRENT = SCRIPTS.named("current")
VACANCY = SCRIPTS.named("vacancy")


class RedisLeases:
    """One term at a time for each name."""

    def __init__(self, server: Server, keys: Keys, bell: Bell[str]) -> None:
        self._server = server
        self._keys = keys
        self._bell = bell

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant."""
        keys = self._keys
        granted = await self._server.run(
            ACQUIRE,
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
        """Lengthen this very term."""
        renewed = await self._server.run(
            RENEW, self._where(lease.name), *_term(lease), milliseconds(lease.ttl)
        )
        return lease if renewed else None

    async def release(self, lease: Lease) -> bool:
        """End this very term, and wake those who wait."""
        released = await self._server.run(
            RELEASE, self._where(lease.name), *_term(lease), lease.name, self._keys.channel
        )
        return bool(released)

    async def current(self, name: str) -> Lease | None:
        """The live term of the name."""
        held = await self._server.run(CURRENT, self._where(name))
        if held is None:
            return None
        holder, token, ttl, domain = held
        length = timedelta(microseconds=int(ttl))
        return Lease(name, NodeId(holder.decode()), domain.decode(), int(token), length)

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """A hint for each time that the name is found vacant, at once if it is so now."""
        return _Vacancies(self, self._bell, name)

    async def vacancy(self, name: str) -> tuple[int | None, timedelta]:
        """The number of the vacancy that the name has now; or None, and when to look again."""
        keys = self._keys
        number, left = await self._server.run(VACANCY, (keys.term(name), keys.number, keys.pause))
        return (None, time_left(left)) if number is None else (int(number), timedelta(0))

    def _where(self, name: str) -> tuple[str, str]:
        return self._keys.term(name), self._keys.domain


class _Vacancies:
    """Waits only while it is asked, and so leaves nothing behind when nobody asks any more."""

    def __init__(self, leases: RedisLeases, bell: Bell[str], name: str) -> None:
        self._leases = leases
        self._bell = bell
        self._name = name
        self._told: int | None = None
        self._again_in: timedelta | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._bell.wait_for(
            f"lease {self._name}", self._untold, lambda: self._again_in
        )

    async def _untold(self) -> int | None:
        vacancy, left = await self._leases.vacancy(self._name)
        self._again_in = left if vacancy is None else None
        return None if vacancy == self._told else vacancy


def _term(lease: Lease) -> tuple[str, int, str]:
    return lease.holder, lease.token, lease.domain
