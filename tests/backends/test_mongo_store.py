"""The MongoDB store against the suite of all stores: on one server, and on a replica set."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from drumbeat.backends.mongo.store import MongoStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.ports.store import Store
from drumbeat.testing.conformance import StoreConformance, StoreTraits
from drumbeat.testing.conformance.store.hints import HintConformance
from servers import GivenMongo, Mongo

from .mongo_wholeness import check_whole, empty

NAMESPACE = "conformance"


@asynccontextmanager
async def opened(address: str) -> AsyncGenerator[MongoStore]:
    store = MongoStore(address, SystemClock(), NAMESPACE)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class OnMongo:
    """Where the store is. All cases share a namespace, which is emptied before each."""

    @pytest.fixture
    def server(self, mongo: Mongo | GivenMongo) -> Mongo | GivenMongo:
        return mongo

    @pytest.fixture
    async def store(self, server: Mongo | GivenMongo) -> AsyncIterator[Store]:
        async with opened(server.address) as store:
            empty(server.address, NAMESPACE)
            yield store
        check_whole(server.address, NAMESPACE)

    @pytest.fixture
    def traits(self, store: Store, server: Mongo | GivenMongo) -> StoreTraits:
        return StoreTraits(lambda: opened(server.address))


class TestMongoStore(OnMongo, StoreConformance):
    """On one server, where everybody looks again after a short time."""


class TestMongoStoreOnReplicaSet(OnMongo, HintConformance):
    """Where change streams wake those who wait."""

    @pytest.fixture
    def server(self, mongo_replica_set: Mongo) -> Mongo:
        return mongo_replica_set
