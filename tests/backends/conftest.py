"""The conformance suites are shipped with the package: let pytest explain their assertions too."""

from __future__ import annotations

import gc
import pkgutil
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import pytest

from drumbeat.backends.postgres.connection import connector
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.engine.plumbing.runtime import SystemClock, SystemRuntime
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

pytest.register_assert_rewrite("drumbeat.testing.conformance")

AGES = 60.0
"""Seconds that no server takes for an answer, however busy the machine and its disk are."""
HASTY = Limits(connections=2, patience=AGES, connecting=AGES, statement=4.0, lock=0.3)


@pytest.fixture
def key() -> str:
    """A name that nobody else uses."""
    return f"test/{SystemRuntime().random.getrandbits(64):x}"


@pytest.fixture
def namespace(postgres: Postgres) -> Iterator[str]:
    """A schema of its own on the shared server."""
    with namespace_in(postgres.address) as name:
        yield name


@pytest.fixture
async def database(postgres: Postgres, namespace: str) -> AsyncIterator[Database]:
    """The layer under store and coordinator, on that schema."""
    database = Database(postgres.address, SystemClock(), namespace)
    yield database
    await database.close()


@pytest.fixture
async def hasty(
    postgres: Postgres, namespace: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Database]:
    monkeypatch.setattr(connector, "SLACK", AGES)  # the server itself says what takes too long
    await database.open()  # a busy machine may take its time to make the schema
    hasty = Database(postgres.address, SystemClock(), namespace, HASTY)
    yield hasty
    await hasty.close()


@pytest.fixture
def patient_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for calls over HTTP, where no endpoint is away."""
    monkeypatch.setattr("drumbeat.backends.http.failover_client.CALL_TIMEOUT", AGES)
    monkeypatch.setattr("drumbeat.backends.http.failover_client.ENDPOINT_TIMEOUT", AGES)
    monkeypatch.setattr("servers.web.PATIENCE", AGES)


PATIENT = Limits(patience=AGES, connecting=AGES)
UNHURRIED: dict[str, object] = {
    "drumbeat.backends.postgres.connection.database.Limits": lambda: PATIENT,
    "drumbeat.backends.postgres.coordinator.coordinator.LIMITS": replace(
        PATIENT, connections=2, statement=AGES, lock=AGES
    ),
    "drumbeat.backends.sqlite.store.store.PATIENCE": AGES,
    "drumbeat.backends.sqlite.coordinator.coordinator.PATIENCE": AGES,
    "drumbeat.backends.mongo.connection.client.ANSWER_WITHIN": AGES,
    "drumbeat.backends.mongo.connection.client.CONNECT_WITHIN": AGES,
    "drumbeat.backends.mongo.store.jobs.job_lists.COUNT_WITHIN": AGES,
    "drumbeat.backends.redis.connection.client.ANSWER_WITHIN": AGES,
    "drumbeat.backends.redis.connection.client.CONNECT_WITHIN": AGES,
}
"""Time-outs that the tests of this folder do not depend on, and what replaces them."""
PRODUCTION = {name: pkgutil.resolve_name(name) for name in UNHURRIED}
"""The same time-outs as users have them."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no client give up a server that is only busy.

    A test of a time-out itself uses `in_production` for the calls that have to time out.
    """
    for name, patient in UNHURRIED.items():
        monkeypatch.setattr(name, patient)


@pytest.fixture
def in_production(
    unhurried: None, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], AbstractContextManager[None]]:
    """Time-outs as users have them, for a part of a test: the one that tests a time-out.

    SQLite and PostgreSQL take them when a store or coordinator is made, MongoDB with the first
    call on a loop, Redis with every call.
    """

    @contextmanager
    def production() -> Generator[None]:
        with monkeypatch.context() as hurried:
            for name, value in PRODUCTION.items():
                hurried.setattr(name, value)
            yield

    return production


@pytest.fixture
def collected() -> Iterator[None]:
    """Let the connections that the client of MongoDB leaves open be closed within this test.

    It leaves one open that is cancelled or closed while it is made.
    """
    yield
    gc.collect()
