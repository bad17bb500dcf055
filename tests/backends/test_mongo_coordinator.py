"""The MongoDB coordinator against the suite of all: with and without change streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.backends.mongo.coordinator.documents import KEPT, NAME, UNUSED_SINCE
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from drumbeat.testing.conformance.builders import ANNE, BERT, node
from servers import GivenMongo, Mongo

from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, connected, namespace_on

pytestmark = LEAVING_CONNECTIONS
TTL = timedelta(seconds=0.6)
EXPIRES_WITHIN = TTL + timedelta(seconds=0.05)
SECONDS = timedelta(seconds=30)
SOON = 30.0


async def pass_time(length: timedelta) -> None:
    await CLOCK.sleep(length.total_seconds())


@asynccontextmanager
async def coordinating(address: str, namespace: str) -> AsyncGenerator[MongoCoordinator]:
    coordinator = MongoCoordinator(address, CLOCK, namespace)
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()


class MongoConformance(CoordinatorConformance):
    """The suite, hooked up to whatever server a subclass names."""

    @pytest.fixture
    async def namespace(self, address: str) -> AsyncIterator[str]:
        async with namespace_on(address) as namespace:
            yield namespace

    @pytest.fixture
    async def coordinator(self, address: str, namespace: str) -> AsyncIterator[Coordinator]:
        async with coordinating(address, namespace) as coordinator:
            yield coordinator

    @pytest.fixture
    def traits(self, address: str, namespace: str) -> CoordinatorTraits:
        return CoordinatorTraits(
            lambda: coordinating(address, namespace), pass_time, TTL, EXPIRES_WITHIN
        )


class TestMongoCoordinator(MongoConformance):
    @pytest.fixture
    def address(self, mongo: Mongo | GivenMongo) -> str:
        return mongo.address

    async def test_a_database_that_was_emptied_is_another_domain(
        self, coordinator: Coordinator, address: str, namespace: str
    ) -> None:
        old = await coordinator.leases.acquire("scheduler", ANNE, SECONDS)
        assert old is not None
        await forget(address, namespace, "domain", "lease scheduler")
        assert await coordinator.leases.renew(old) is None
        async with asyncio.timeout(SOON):  # who knew it before waits for one TTL
            while (new := await coordinator.leases.acquire("scheduler", BERT, TTL)) is None:
                await pass_time(timedelta(milliseconds=20))
        assert new.domain != old.domain
        assert new.token > old.token
        assert not await coordinator.leases.release(old)
        as_if = replace(new, domain=old.domain)
        assert await coordinator.leases.renew(as_if) is None
        assert not await coordinator.leases.release(as_if)

    async def test_tokens_and_revisions_rise_over_the_deletion_of_their_documents(
        self, coordinator: Coordinator, address: str, namespace: str
    ) -> None:
        tokens: list[int] = []
        revisions: list[int] = []
        for _ in range(3):
            for _ in range(2):
                lease = await coordinator.leases.acquire("scheduler", ANNE, SECONDS)
                assert lease is not None
                await coordinator.leases.release(lease)
                entry = await coordinator.configuration.put("key", b"1")
                tokens.append(lease.token)
                revisions.append(entry.revision)
            await forget(address, namespace, "lease scheduler", "configuration key")
        assert tokens == sorted(set(tokens))
        assert revisions == sorted(set(revisions))

    async def test_tokens_rise_over_a_restored_backup(
        self, coordinator: Coordinator, address: str, namespace: str
    ) -> None:
        lease = await coordinator.leases.acquire("scheduler", ANNE, SECONDS)
        assert lease is not None
        async with connected(address, namespace) as server:
            with server.calls() as collections:  # as it was, long ago
                await collections[NAME].update_one(
                    {"_id": "lease scheduler"}, {"$set": {"token": 7, "holder": None}}
                )
        assert await coordinator.leases.renew(lease) is None
        later = await coordinator.leases.acquire("scheduler", ANNE, SECONDS)
        assert later is not None
        assert later.token > lease.token

    async def test_only_what_nobody_uses_is_deleted_by_the_index(
        self, coordinator: Coordinator, address: str, namespace: str
    ) -> None:
        await coordinator.leases.acquire("short", ANNE, SECONDS)
        await coordinator.leases.acquire("long", ANNE, timedelta(days=30))
        await coordinator.registry.register(node(), SECONDS)
        await coordinator.configuration.put("kept", b"1")
        gone = await coordinator.configuration.put("gone", b"1")
        await coordinator.configuration.compare_and_set("gone", None, gone.revision)
        async with connected(address, namespace) as server:
            with server.calls() as collections:
                used = collections[NAME].find({UNUSED_SINCE: {"$exists": True}}, sort=[("_id", 1)])
                deleted = [each["_id"] for each in await used.to_list()]
                indexes = await collections[NAME].index_information()
        assert deleted == ["configuration gone", "lease short", f"node {ANNE}"]
        assert indexes[f"{UNUSED_SINCE}_1"]["expireAfterSeconds"] == KEPT.total_seconds()

    async def test_a_foreign_collection_at_our_name_is_refused_and_left_alone(
        self, address: str, namespace: str
    ) -> None:
        async with connected(address, namespace) as server:
            with server.calls() as collections:
                await collections[NAME].insert_one({"_id": 7, "order": "bread"})
            coordinator = MongoCoordinator(address, CLOCK, namespace)
            with pytest.raises(ConfigurationError) as refused:
                await coordinator.open()
            await coordinator.close()
            with server.calls() as collections:
                assert await collections[NAME].find().to_list() == [{"_id": 7, "order": "bread"}]
                assert list(await collections[NAME].index_information()) == ["_id_"]
        assert f"the collection '{namespace}.{NAME}' at" in str(refused.value)
        assert "holds documents that are not Drumbeat's; nothing was changed" in str(refused.value)

    async def test_names_with_dollars_and_dots_are_plain_names(
        self, coordinator: Coordinator
    ) -> None:
        for name in ("$where", "a.b", "$a.$b", "{}", " ", "\N{SNOWMAN}"):
            lease = await coordinator.leases.acquire(name, ANNE, SECONDS)
            assert lease is not None
            assert await coordinator.leases.renew(lease) == lease
            entry = await coordinator.configuration.put(name, b"{'$gt': 1}")
            assert await coordinator.configuration.get(name) == entry
            assert await coordinator.leases.release(lease)

    async def test_a_node_that_was_killed_is_noticed_without_a_message(
        self, coordinator: Coordinator
    ) -> None:
        async with asyncio.timeout(SOON):
            while True:
                await coordinator.registry.register(node(), TTL)
                changes = coordinator.registry.changes()
                await anext(changes)
                if await coordinator.registry.nodes():
                    break  # so it was seen while it lived
            await anext(changes)
        assert list(await coordinator.registry.nodes()) == []

    async def test_it_can_be_used_again_after_it_was_closed(
        self, address: str, namespace: str
    ) -> None:
        coordinator = MongoCoordinator(address, CLOCK, namespace)
        for _ in range(2):
            entry = await coordinator.configuration.put("key", b"1")
            assert await anext(coordinator.configuration.watch("key")) == entry
            await coordinator.close()
            await coordinator.close()


class TestMongoCoordinatorOfAReplicaSet(MongoConformance):
    @pytest.fixture
    def address(self, mongo_replica_set: Mongo) -> str:
        return mongo_replica_set.address

    async def test_those_who_wait_are_told_and_do_not_only_look_now_and_then(
        self, traits: CoordinatorTraits, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(f"{MongoCoordinator.__module__}.LOOK_AGAIN", timedelta(hours=1))
        async with traits.another() as one, traits.another() as other, asyncio.timeout(SOON):
            watch = one.configuration.watch("key")
            assert await anext(watch) is None
            for number in range(3):
                seen = asyncio.create_task(next_of(watch))
                await pass_time(timedelta(milliseconds=50))  # it has looked, and sleeps
                entry = await other.configuration.put("key", str(number).encode())
                assert await seen == entry


async def forget(address: str, namespace: str, *names: str) -> None:
    """Delete documents, as the TTL index or a person does."""
    async with connected(address, namespace) as server:
        with server.calls() as collections:
            deleted = await collections[NAME].delete_many({"_id": {"$in": list(names)}})
    assert deleted.deleted_count == len(names)


async def next_of(watch: AsyncIterator[Entry | None]) -> Entry | None:
    return await anext(watch)
