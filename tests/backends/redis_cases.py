"""What the tests of the Redis coordinator share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import pytest

from drumbeat.backends.redis.coordinator import RedisCoordinator
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import ANNE

TTL = timedelta(seconds=0.6)
EXPIRES_WITHIN = TTL + timedelta(seconds=0.05)
LASTING = timedelta(seconds=10)
"""Longer than a case takes; a server that was just started grants no term before it is that old."""
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


async def hold_renew_and_release(coordinator: Coordinator) -> None:
    lease = await won(coordinator, ttl=LASTING)
    assert await coordinator.leases.renew(lease) == lease
    assert await coordinator.leases.release(lease)


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
