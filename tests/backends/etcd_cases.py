"""What the tests of etcd share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime


@asynccontextmanager
async def opened(address: str) -> AsyncGenerator[EtcdCoordinator]:
    coordinator = EtcdCoordinator(address, SystemRuntime())
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()
