"""What the tests of etcd share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.backends.etcd.coordinator.coordinator import ADDRESS_FORMAT
from drumbeat.backends.http.address import RemoteAddress
from drumbeat.backends.http.failover_client import FailoverClient
from drumbeat.engine.plumbing.runtime import SystemRuntime


@asynccontextmanager
async def opened(address: str) -> AsyncGenerator[EtcdCoordinator]:
    coordinator = EtcdCoordinator(address, SystemRuntime())
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()


@asynccontextmanager
async def calling(address: str) -> AsyncGenerator[EtcdClient]:
    remote = RemoteAddress.parse(address, ADDRESS_FORMAT)
    http = FailoverClient(remote, SystemRuntime().clock)
    try:
        yield EtcdClient(remote, http)
    finally:
        await http.close()
