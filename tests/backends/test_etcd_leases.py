"""Leases on etcd: how long the server is told to keep them, and a cluster that was emptied."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.connection.transaction import Transaction, delete
from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.testing.conformance.builders import ANNE
from servers import Etcd

from .etcd_cases import opened

pytestmark = pytest.mark.usefixtures("patient_exchange")

FRACTION = timedelta(seconds=30.5)


@pytest.fixture
def prefix() -> str:
    return f"leases-{SystemRuntime().random.getrandbits(64):x}"


@pytest.fixture
async def coordinator(etcd: Etcd, prefix: str) -> AsyncIterator[EtcdCoordinator]:
    async with opened(f"{etcd.address}/{prefix}") as coordinator:
        yield coordinator


async def forget_the_domain(client: EtcdClient, prefix: str) -> None:
    """Remove what an emptied cluster has lost: the key by which it is known."""
    domain = f"{prefix}/drumbeat/domain"
    done = await client.transact_once(Transaction(then=(delete(domain),)))
    assert done.succeeded


async def test_etcd_keeps_a_lease_for_all_of_a_ttl_with_a_fraction(
    coordinator: EtcdCoordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """etcd counts whole seconds: rounded down, its lease would end before ours."""
    granted: list[int] = []
    grant = EtcdClient.grant

    async def noted(client: EtcdClient, seconds: int) -> int:
        granted.append(seconds)
        return await grant(client, seconds)

    monkeypatch.setattr(EtcdClient, "grant", noted)
    lease = await coordinator.leases.acquire("scheduler", ANNE, FRACTION)
    assert lease is not None
    assert await coordinator.leases.renew(lease) == lease
    assert granted == [31, 31]


async def test_a_cluster_emptied_while_a_term_is_acquired_gives_none(
    coordinator: EtcdCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = EtcdClient.grant

    async def emptied_meanwhile(client: EtcdClient, seconds: int) -> int:
        await forget_the_domain(client, prefix)
        return await grant(client, seconds)

    monkeypatch.setattr(EtcdClient, "grant", emptied_meanwhile)
    assert await coordinator.leases.acquire("scheduler", ANNE, FRACTION) is None
    assert await coordinator.leases.current("scheduler") is None


async def test_no_lease_is_granted_while_an_emptied_cluster_settles(
    coordinator: EtcdCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(_client: EtcdClient, _seconds: int) -> int:
        raise AssertionError("a lease was asked for")

    async def forgotten(client: EtcdClient, seconds: int) -> int:
        await forget_the_domain(client, prefix)
        return await grant(client, seconds)

    grant = EtcdClient.grant
    monkeypatch.setattr(EtcdClient, "grant", forgotten)
    assert await coordinator.leases.acquire("scheduler", ANNE, FRACTION) is None
    monkeypatch.setattr(EtcdClient, "grant", refused)
    assert await coordinator.leases.acquire("scheduler", ANNE, FRACTION) is None
