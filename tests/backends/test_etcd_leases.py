"""Leases on etcd: how long the server is told to keep them, and a cluster that was emptied."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.connection.transaction import Keys, Transaction, delete
from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.testing.conformance.builders import ANNE
from servers import Etcd, web

from .etcd_cases import calling, opened

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


async def kept_for(etcd: Etcd, key: str) -> int:
    """The TTL, in seconds, of the etcd lease that the key is bound to."""
    async with calling(etcd.address) as client:
        (found,) = (await client.range(Keys.only(key))).kvs
    answer = web.post(etcd.port, "/v3/lease/timetolive", {"ID": found.lease})
    return int(answer.document["grantedTTL"])


async def test_etcd_keeps_a_lease_for_all_of_a_ttl_with_a_fraction(
    etcd: Etcd, coordinator: EtcdCoordinator, prefix: str
) -> None:
    """etcd counts whole seconds: rounded down, its lease would end before ours."""
    key = f"{prefix}/drumbeat/leases/scheduler"
    lease = await coordinator.leases.acquire("scheduler", ANNE, FRACTION)
    assert lease is not None
    assert await kept_for(etcd, key) == 31
    assert await coordinator.leases.renew(lease) == lease
    assert await kept_for(etcd, key) == 31


async def test_a_cluster_emptied_while_a_term_is_acquired_gives_none(
    coordinator: EtcdCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_bond = EtcdClient.make_bond

    async def emptied_meanwhile(client: EtcdClient, ttl: timedelta) -> int:
        await forget_the_domain(client, prefix)
        return await make_bond(client, ttl)

    monkeypatch.setattr(EtcdClient, "make_bond", emptied_meanwhile)
    assert await coordinator.leases.acquire("scheduler", ANNE, FRACTION) is None
    assert await coordinator.leases.current("scheduler") is None


async def test_no_lease_is_granted_while_an_emptied_cluster_settles(
    coordinator: EtcdCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(_client: EtcdClient, _ttl: timedelta) -> int:
        raise AssertionError("a lease was asked for")

    async def forgotten(client: EtcdClient, ttl: timedelta) -> int:
        await forget_the_domain(client, prefix)
        return await make_bond(client, ttl)

    make_bond = EtcdClient.make_bond
    monkeypatch.setattr(EtcdClient, "make_bond", forgotten)
    assert await coordinator.leases.acquire("scheduler", ANNE, FRACTION) is None
    monkeypatch.setattr(EtcdClient, "make_bond", refused)
    assert await coordinator.leases.acquire("scheduler", ANNE, FRACTION) is None
