"""Leases on Consul: a term is a key that its session holds, on a server that was not emptied."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from drumbeat.backends.consul.connection.client import ConsulClient
from drumbeat.backends.consul.connection.messages import delete
from drumbeat.backends.consul.coordinator import ConsulCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.testing.conformance.builders import ANNE, BERT
from servers import Consul

pytestmark = pytest.mark.usefixtures("patient_exchange")

TTL = timedelta(seconds=30)


@pytest.fixture
def prefix() -> str:
    return f"leases-{SystemRuntime().random.getrandbits(64):x}"


@pytest.fixture
async def coordinator(consul: Consul, prefix: str) -> AsyncIterator[ConsulCoordinator]:
    coordinator = ConsulCoordinator(f"{consul.address}/{prefix}", SystemRuntime())
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()


def emptied_before_the_next_session(monkeypatch: pytest.MonkeyPatch, domain: str) -> None:
    """Remove what an emptied Consul has lost, the key by which it is known, at that moment."""
    make_bond = ConsulClient.make_bond

    async def emptied(client: ConsulClient, ttl: timedelta) -> str:
        await client.transact_once(delete(domain))
        return await make_bond(client, ttl)

    monkeypatch.setattr(ConsulClient, "make_bond", emptied)


async def test_a_term_whose_key_was_taken_away_is_not_renewed_by_its_living_session(
    coordinator: ConsulCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
    assert lease is not None
    renew_bond = ConsulClient.renew_bond

    async def taken_meanwhile(client: ConsulClient, session: str) -> bool:
        await client.transact_once(delete(f"{prefix}/drumbeat/leases/scheduler"))
        return await renew_bond(client, session)

    monkeypatch.setattr(ConsulClient, "renew_bond", taken_meanwhile)
    assert await coordinator.leases.renew(lease) is None
    assert await coordinator.leases.acquire("scheduler", BERT, TTL) is not None


async def test_a_consul_emptied_while_a_term_is_acquired_gives_none(
    coordinator: ConsulCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    emptied_before_the_next_session(monkeypatch, f"{prefix}/drumbeat/domain")
    assert await coordinator.leases.acquire("scheduler", ANNE, TTL) is None
    assert await coordinator.leases.current("scheduler") is None


async def test_no_session_is_made_while_an_emptied_consul_settles(
    coordinator: ConsulCoordinator, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(_client: ConsulClient, _ttl: timedelta) -> str:
        raise AssertionError("a session was asked for")

    emptied_before_the_next_session(monkeypatch, f"{prefix}/drumbeat/domain")
    assert await coordinator.leases.acquire("scheduler", ANNE, TTL) is None
    monkeypatch.setattr(ConsulClient, "make_bond", refused)
    assert await coordinator.leases.acquire("scheduler", ANNE, TTL) is None
