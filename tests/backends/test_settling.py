"""A server that has forgotten everything grants nothing while anybody may trust in the past."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest

from drumbeat.backends.consul.coordinator import ConsulCoordinator
from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.backends.settling import Settling
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.conformance.builders import ANNE, BERT
from servers import Consul, Etcd, GivenMongo, Mongo, web

from .mongo_cases import drop

TTL = timedelta(seconds=2)
clock = SystemRuntime().clock


@dataclass(frozen=True, slots=True)
class Forgetful:
    """A server that can be told to forget, and how to reach it."""

    connect: Callable[[], Coordinator]
    forget: Callable[[], object]


@pytest.fixture(params=["etcd", "consul", "mongo"])
def server(request: pytest.FixtureRequest) -> Forgetful:
    namespace = f"settling-{uuid4().hex}"
    if request.param == "etcd":
        etcd: Etcd = request.getfixturevalue("etcd")
        ours = {"key": _base64(f"{namespace}/"), "range_end": _base64(f"{namespace}0")}
        return Forgetful(
            lambda: EtcdCoordinator(etcd.address, SystemRuntime(), namespace),
            lambda: web.post(etcd.port, "/v3/kv/deleterange", ours),
        )
    if request.param == "mongo":
        mongo: Mongo | GivenMongo = request.getfixturevalue("mongo")
        return Forgetful(
            lambda: MongoCoordinator(mongo.address, clock, namespace),
            lambda: asyncio.run(drop(mongo.address, namespace)),
        )
    consul: Consul = request.getfixturevalue("consul")
    delete = {"KV": {"Verb": "delete-tree", "Key": f"{namespace}/"}}
    return Forgetful(
        lambda: ConsulCoordinator(consul.address, SystemRuntime(), namespace),
        lambda: web.put(consul.port, "/v1/txn", [delete]),
    )


def _base64(key: str) -> str:
    return b64encode(key.encode()).decode()


@pytest.mark.usefixtures("patient_exchange")
async def test_who_knew_the_server_before_waits_for_one_ttl(server: Forgetful) -> None:
    holder, follower = server.connect(), server.connect()
    await holder.open()
    await follower.open()
    old = await holder.leases.acquire("scheduler", ANNE, TTL)
    assert old is not None
    await asyncio.to_thread(server.forget)
    seen_at = clock.elapsed()
    assert await follower.leases.acquire("scheduler", BERT, TTL) is None
    while (new := await follower.leases.acquire("scheduler", BERT, TTL)) is None:
        await clock.sleep(0.02)
    assert clock.elapsed() - seen_at > 0.9 * TTL.total_seconds()
    assert new.domain != old.domain
    assert await holder.leases.renew(old) is None
    await holder.close()
    await follower.close()
    await asyncio.to_thread(server.forget)


class TestSettling:
    def test_the_first_domain_is_believed_at_once(self) -> None:
        assert Settling(FakeClock()).is_over("one", TTL)

    async def test_another_domain_is_waited_for_and_then_believed(self) -> None:
        fake = FakeClock()
        settling = Settling(fake)
        settling.see("one")
        assert not settling.is_over("two", TTL)
        await fake.advance(TTL.total_seconds() / 2)
        assert not settling.is_over("two", TTL)
        await fake.advance(TTL.total_seconds() / 2)
        assert settling.is_over("two", TTL)
