"""The PostgreSQL coordinator against the suite of all coordinators, and on its bad days."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from datetime import timedelta
from typing import TypeVar

import psycopg
import pytest

from drumbeat.backends.postgres.coordinator import PostgresCoordinator
from drumbeat.backends.postgres.coordinator.leases import TIDY_EVERY
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from drumbeat.testing.conformance.builders import ANNE, BERT
from servers import Pgbouncer, Postgres
from tests.support.postgres_namespace import ask, kill_connections, namespace_in, tell, until

from .hand_clock import HandClock

T = TypeVar("T")

TTL = timedelta(minutes=2)
"""So long that no term runs out unless a test lets time pass."""
SOON = 40.0
"""Those of a node; for a busy machine they are too strict."""
HELD_UP = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE wait_event_type = 'Lock' AND query LIKE '%.leases%'"
)


@pytest.fixture
def server(postgres: Postgres) -> Postgres:
    """The server that holds the data."""
    return postgres


@pytest.fixture
def address(server: Postgres) -> str:
    """Where the coordinator connects to."""
    return server.address


@pytest.fixture
def clock() -> Clock:
    return HandClock()


@pytest.fixture
def namespace(server: Postgres) -> Iterator[str]:
    with namespace_in(server.address) as name:
        yield name


@asynccontextmanager
async def opened(address: str, clock: Clock, namespace: str) -> AsyncGenerator[PostgresCoordinator]:
    coordinator = PostgresCoordinator(address, clock, namespace)
    await coordinator.open()
    try:
        yield coordinator
    finally:
        await coordinator.close()


@pytest.fixture
async def coordinator(
    address: str, clock: Clock, namespace: str
) -> AsyncIterator[PostgresCoordinator]:
    async with opened(address, clock, namespace) as coordinator:
        yield coordinator


@pytest.fixture(scope="module")
def shared() -> Iterator[dict[str, str]]:
    """The namespaces that the cases share, by the address of their server."""
    with ExitStack() as stack:
        yield Shared(lambda address: stack.enter_context(namespace_in(address)))


class Shared(dict[str, str]):
    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, address: str) -> str:
        return self.setdefault(address, self._make(address))


class PostgresCoordinatorSuite(CoordinatorConformance):
    """Time passes on the server by moving every end into the past: no test has to wait."""

    @pytest.fixture
    def namespace(self, shared: dict[str, str], server: Postgres) -> Iterator[str]:
        """Emptied by each case, since to make a new one takes longer than most of them."""
        name = shared[server.address]
        yield name
        for table in ("leases", "registry", "configuration"):
            tell(server.address, f'DELETE FROM "{name}".{table}')

    @pytest.fixture
    def traits(
        self, coordinator: Coordinator, server: Postgres, address: str, clock: Clock, namespace: str
    ) -> CoordinatorTraits:
        async def pass_time(length: timedelta) -> None:
            for table in ("leases", "registry"):
                tell(
                    server.address,
                    f'UPDATE "{namespace}".{table} '
                    f"SET ends_at = ends_at - interval '{length.total_seconds()} seconds'",
                )
            if isinstance(clock, HandClock):
                await clock.advance(length + timedelta(seconds=1))

        return CoordinatorTraits(
            lambda: opened(address, clock, namespace), pass_time, ttl=TTL, expires_within=TTL
        )


class TestPostgresCoordinator(PostgresCoordinatorSuite):
    """On the version that most have."""


class TestInTheDatabase:
    async def test_a_term_runs_out_on_the_servers_own_clock(
        self, coordinator: PostgresCoordinator
    ) -> None:
        ttl = timedelta(seconds=2)
        lease = await coordinator.leases.acquire("scheduler", ANNE, ttl)
        assert lease is not None
        assert await coordinator.leases.acquire("scheduler", BERT, TTL) is None
        async with asyncio.timeout(SOON):
            while (rival := await coordinator.leases.acquire("scheduler", BERT, TTL)) is None:
                await SystemClock().sleep(0.02)
        assert rival.token > lease.token
        assert await coordinator.leases.renew(lease) is None

    async def test_a_term_that_had_to_wait_for_its_row_lasts_its_whole_time_from_then_on(
        self, coordinator: PostgresCoordinator, server: Postgres, namespace: str
    ) -> None:
        lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert lease is not None
        assert await coordinator.leases.release(lease)
        since = await held_up(
            server, namespace, lambda: coordinator.leases.acquire("scheduler", BERT, TTL)
        )
        lasts = f'SELECT ends_at - ttl >= {since} FROM "{namespace}".leases'
        assert ask(server.address, lasts) == [(True,)]

    async def test_a_refused_candidate_writes_nothing(
        self, coordinator: PostgresCoordinator, server: Postgres, namespace: str
    ) -> None:
        """A row lock would be a write: a hundred followers would keep the log busy."""
        seen = f'SELECT xmin, xmax, ctid FROM "{namespace}".leases'
        assert await coordinator.leases.acquire("scheduler", ANNE, TTL)
        before = ask(server.address, seen)
        assert await coordinator.leases.acquire("scheduler", BERT, TTL) is None
        assert ask(server.address, seen) == before

    async def test_a_release_wakes_those_who_wait(self, coordinator: PostgresCoordinator) -> None:
        lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert lease is not None
        told = asyncio.Event()
        coordinator.database.subscribe("leases", told.set)
        async with asyncio.timeout(SOON):
            await told.wait()  # listening has begun
            told.clear()
            waiting = asyncio.ensure_future(_next(coordinator.leases.vacancies("scheduler")))
            assert await coordinator.leases.renew(lease) == lease
            assert not told.is_set()
            await coordinator.leases.release(lease)
            await told.wait()
            await waiting

    async def test_a_schema_that_was_made_anew_is_another_domain(
        self, coordinator: PostgresCoordinator, server: Postgres, namespace: str
    ) -> None:
        old = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert old is not None
        await coordinator.close()
        tell(server.address, f'DROP SCHEMA "{namespace}" CASCADE')
        new = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert new is not None
        assert new.token == old.token
        assert new.domain != old.domain
        assert await coordinator.leases.renew(old) is None
        assert not await coordinator.leases.release(old)

    async def test_names_of_long_ago_are_cleared_away_and_their_tokens_never_return(
        self, coordinator: PostgresCoordinator, server: Postgres, namespace: str
    ) -> None:
        first = await coordinator.leases.acquire("old", ANNE, TTL)
        assert first is not None
        tell(
            server.address,
            f"UPDATE \"{namespace}\".leases SET ends_at = ends_at - interval '2 hours', "
            f"written_at = written_at - interval '2 hours'",
        )
        last = first
        for _ in range(TIDY_EVERY):
            lease = await coordinator.leases.acquire("busy", ANNE, TTL)
            assert lease is not None
            assert await coordinator.leases.release(lease)
            last = lease
        assert ask(server.address, f'SELECT name FROM "{namespace}".leases') == [("busy",)]
        again = await coordinator.leases.acquire("old", ANNE, TTL)
        assert again is not None
        assert again.token > last.token > first.token

    async def test_a_waiter_is_woken_after_its_connections_were_killed(
        self, server: Postgres, namespace: str
    ) -> None:
        async with opened(server.address, SystemClock(), namespace) as one:
            watch = one.configuration.watch("key")
            async with asyncio.timeout(SOON):
                assert await anext(watch) is None
                seen = asyncio.ensure_future(until_it_answers(lambda: anext(watch)))
                await one.configuration.get("key")
                kill_connections(server.address)
                async with opened(server.address, SystemClock(), namespace) as two:
                    entry = await two.configuration.put("key", b"1")
                assert await seen == entry


async def held_up(
    server: Postgres, namespace: str, ask_for: Callable[[], Awaitable[object]]
) -> str:
    """Ask for something that waits for a row; return the server's time before it got the row."""
    with psycopg.connect(server.address) as connection:
        connection.execute(f'SELECT FROM "{namespace}".leases FOR UPDATE'.encode())
        asked = asyncio.ensure_future(ask_for())
        await until(lambda: bool(ask(server.address, HELD_UP)[0][0]))
        ((since,),) = ask(server.address, "SELECT clock_timestamp()::text")
    assert await asked is not None
    return f"timestamptz '{since}'"


async def _next(watch: AsyncIterator[object]) -> object:
    return await anext(watch)


async def until_it_answers(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask again while the server is away, or too busy for whoever is hasty."""
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await ask()
            except Unavailable:
                await SystemClock().sleep(0.02)


class TestOnANewerServer(PostgresCoordinatorSuite):
    @pytest.fixture
    def server(self, postgres_newer: Postgres) -> Postgres:
        return postgres_newer


class TestBehindAPooler(PostgresCoordinatorSuite):
    @pytest.fixture
    def address(self, pgbouncer: Pgbouncer) -> str:
        return pgbouncer.address

    @pytest.fixture
    def clock(self) -> Clock:
        return SystemClock()

    async def test_it_knows_that_it_is(self, coordinator: PostgresCoordinator) -> None:
        assert coordinator.database.pooled


class TestBadDays:
    async def test_sessions_have_the_limits_of_production(
        self,
        postgres: Postgres,
        namespace: str,
        in_production: Callable[[], AbstractContextManager[None]],
    ) -> None:
        with in_production():
            coordinator = PostgresCoordinator(postgres.address, SystemClock(), namespace)
        rows = await until_it_answers(
            lambda: coordinator.database.fetch(
                "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', "
                "'lock_timeout') ORDER BY name"
            )
        )
        assert [tuple(row) for row in rows] == [
            ("lock_timeout", "2000"),
            ("statement_timeout", "2000"),
        ]
        await coordinator.close()

    async def test_a_paused_server_is_unavailable_in_time_and_serves_again_afterwards(
        self, in_production: Callable[[], AbstractContextManager[None]]
    ) -> None:
        with Postgres.start() as server:
            async with opened(server.address, SystemClock(), "drumbeat") as patient:
                lease = await patient.leases.acquire("scheduler", ANNE, 5 * TTL)
                assert lease is not None
            with in_production():
                hasty = PostgresCoordinator(server.address, SystemClock(), "drumbeat")
            assert await until_it_answers(lambda: hasty.leases.renew(lease)) == lease
            server.pause()
            try:
                async with asyncio.timeout(SOON):
                    with pytest.raises(Unavailable, match="did not answer in time"):
                        await hasty.leases.renew(lease)
            finally:
                server.resume()
            assert await until_it_answers(lambda: hasty.leases.renew(lease)) == lease
            await hasty.close()

    async def test_a_lease_outlives_a_crash_of_the_server(self) -> None:
        with Postgres.start() as server:
            async with opened(server.address, SystemClock(), "drumbeat") as coordinator:
                lease = await coordinator.leases.acquire("scheduler", ANNE, 5 * TTL)
                assert lease is not None
                server.kill()
                with pytest.raises(Unavailable):
                    await coordinator.leases.renew(lease)
                server.start_again()
                assert await coordinator.leases.renew(lease) == lease
                assert await coordinator.leases.acquire("scheduler", BERT, TTL) is None
