"""The PostgreSQL store against the suite of all stores: on two versions, and behind a pooler."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from functools import cache

import pytest

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.ports.store import Store
from drumbeat.testing.conformance import StoreConformance, StoreTraits
from drumbeat.testing.conformance.store.claims import TakeConformance
from drumbeat.testing.conformance.store.commits import CommitConformance, StaleEpochConformance
from drumbeat.testing.conformance.store.hints import HintConformance
from servers import Pgbouncer, Postgres
from tests.support.postgres_namespace import namespace_in

from .hand_clock import HandClock
from .postgres_wholeness import check_whole, empty


@pytest.fixture(scope="module")
def namespace_of() -> Iterator[Callable[[str], str]]:
    """The namespace of these tests on a server: to make a new one takes longer than a case."""
    with ExitStack() as stack:

        @cache
        def find(address: str) -> str:
            return stack.enter_context(namespace_in(address))

        yield find


@asynccontextmanager
async def opened(address: str, namespace: str) -> AsyncGenerator[Store]:
    store = PostgresStore(address, HandClock(), namespace)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class OnPostgres:
    """Where the store is, and in which namespace."""

    @pytest.fixture
    def server(self, postgres: Postgres) -> Postgres:
        return postgres

    @pytest.fixture
    def address(self, server: Postgres) -> str:
        return server.address

    @pytest.fixture
    def namespace(self, server: Postgres, namespace_of: Callable[[str], str]) -> str:
        return namespace_of(server.address)

    @pytest.fixture
    async def store(self, server: Postgres, address: str, namespace: str) -> AsyncIterator[Store]:
        async with opened(address, namespace) as store:
            empty(server.address, namespace)
            yield store
        check_whole(server.address, namespace)

    @pytest.fixture
    def traits(self, store: Store, address: str, namespace: str) -> StoreTraits:
        return StoreTraits(lambda: opened(address, namespace))


class TestPostgresStore(OnPostgres, StoreConformance):
    """As Debian has it."""


class TestNewerPostgresStore(OnPostgres, StoreConformance):
    """The newest version."""

    @pytest.fixture
    def server(self, postgres_newer: Postgres) -> Postgres:
        return postgres_newer


class TestPooledPostgresStore(
    OnPostgres, TakeConformance, CommitConformance, StaleEpochConformance, HintConformance
):
    """Through a pooler that lends a session for one transaction: no state is left in it."""

    @pytest.fixture
    def address(self, pgbouncer: Pgbouncer) -> str:
        return pgbouncer.address
