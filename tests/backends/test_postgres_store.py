"""The PostgreSQL store against the suite of all stores, on two versions of the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from drumbeat.ports.store import Store
from drumbeat.stores.postgres import PostgresStore
from drumbeat.testing.conformance import StoreConformance, StoreTraits
from servers import Postgres

from .hand_clock import HandClock
from .postgres_namespace import namespace_in


@pytest.fixture
def address(postgres: Postgres) -> str:
    return postgres.address


@pytest.fixture
def namespace(address: str) -> Iterator[str]:
    with namespace_in(address) as name:
        yield name


@asynccontextmanager
async def opened(address: str, namespace: str) -> AsyncGenerator[Store]:
    store = PostgresStore(address, HandClock(), namespace)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class TestPostgresStore(StoreConformance):
    @pytest.fixture
    async def store(self, address: str, namespace: str) -> AsyncIterator[Store]:
        async with opened(address, namespace) as store:
            yield store

    @pytest.fixture
    def traits(self, store: Store, address: str, namespace: str) -> StoreTraits:
        return StoreTraits(lambda: opened(address, namespace))


class TestNewerPostgresStore(TestPostgresStore):
    @pytest.fixture
    def address(self, postgres_newer: Postgres) -> str:
        return postgres_newer.address
