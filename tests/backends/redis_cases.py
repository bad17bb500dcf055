"""What the tests of the Redis coordinator share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import pytest

from drumbeat.coordinators.redis import RedisCoordinator
from drumbeat.engine.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import ANNE

TTL = timedelta(seconds=0.6)
EXPIRES_WITHIN = TTL + timedelta(seconds=0.05)
LASTING = timedelta(seconds=10)
"""Longer than a case takes; a server that was just started grants no term before it is that old."""
TRIES = 10
"""How often a busy machine may be too slow for what has to be in time."""
CLOCK = SystemClock()
PASSWORD = "hunter2"


async def pass_time(length: timedelta) -> None:
    await CLOCK.sleep(length.total_seconds())


def new_namespace() -> str:
    return f"test-{uuid4().hex}"


@asynccontextmanager
async def connected(address: str, namespace: str) -> AsyncGenerator[RedisCoordinator]:
    coordinator = RedisCoordinator(address, CLOCK, namespace)
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()


async def won(
    coordinator: Coordinator,
    name: str = "scheduler",
    candidate: NodeId = ANNE,
    ttl: timedelta = TTL,
) -> Lease:
    """Wait for vacancies until one can be taken; a server that was just started takes its time."""
    async for _ in coordinator.leases.vacancies(name):
        lease = await coordinator.leases.acquire(name, candidate, ttl)
        if lease is not None:
            return lease
    raise AssertionError("the hints have ended")


async def renewed(coordinator: Coordinator, ttl: timedelta = TTL) -> Lease:
    """A term that was renewed, which has to be in time: a busy machine may need several tries."""
    for _ in range(TRIES):
        since = CLOCK.elapsed()
        lease = await won(coordinator, ttl=ttl)
        if await coordinator.leases.renew(lease) == lease:
            return lease
        assert CLOCK.elapsed() - since >= ttl.total_seconds(), "it was renewed in time, in vain"
    raise AssertionError("this machine is too busy to renew a term in time")


async def wait_until_granting(coordinator: Coordinator, ttl: timedelta = TTL) -> None:
    """Return when the server was started long enough ago."""
    await coordinator.leases.release(await won(coordinator, "any", ttl=ttl))


async def refusal_of(address: str) -> Exception:
    """Why a server is refused; the password is in no sentence."""
    coordinator = RedisCoordinator(address, CLOCK, new_namespace())
    with pytest.raises((ConfigurationError, Unavailable)) as refused:
        await coordinator.open()
    await coordinator.close()
    assert PASSWORD not in str(refused.value)
    return refused.value
