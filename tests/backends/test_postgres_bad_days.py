"""What becomes of calls while a server is killed, paused, read-only or replaced."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress

import pytest

from drumbeat.backends.postgres.connection import connector
from drumbeat.backends.postgres.connection.address import parse_address
from drumbeat.backends.postgres.connection.client import ProtocolError, ServerError, connect
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.failures import translated
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from servers import Postgres
from tests.support.postgres_namespace import ask, kill_connections, until

SOON = 60.0


HASTY = Limits(connections=2, patience=SOON, connecting=2.0, statement=1.0, lock=0.3)
ONE = Limits(connections=1, patience=SOON, connecting=SOON)
SLEEPING = (
    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%sleep(30)' AND state = 'active'"
)


class TestBadDays:
    async def test_killed_connections_that_were_idle_are_not_noticed(
        self, database: Database, postgres: Postgres
    ) -> None:
        lost = asyncio.Event()

        def ended(_connection: object) -> None:
            lost.set()

        async with database.borrow() as connection:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            connection.add_termination_listener(ended)
        kill_connections(postgres.address)
        async with asyncio.timeout(SOON):
            await lost.wait()
        assert await database.fetch_value("SELECT pg_backend_pid()") != pid

    async def test_a_statement_whose_connection_is_killed_is_unavailable(
        self, database: Database, postgres: Postgres
    ) -> None:
        sleeping = asyncio.ensure_future(database.fetch("SELECT pg_sleep(30)"))
        await until(lambda: ask(postgres.address, SLEEPING) == [(1,)])
        kill_connections(postgres.address)
        with pytest.raises(Unavailable, match="the connection was lost"):
            await sleeping
        assert await database.fetch_value("SELECT 1") == 1

    async def test_a_server_that_was_killed_is_used_again_once_it_is_back(self) -> None:
        with Postgres.start() as server:
            database = Database(server.address, SystemClock())
            async with asyncio.TaskGroup() as group:
                for _ in range(4):
                    group.create_task(database.fetch("SELECT pg_sleep(0.05)"))
            woken = asyncio.Event()
            database.subscribe("jobs", woken.set)
            async with asyncio.timeout(SOON):
                await woken.wait()
                woken.clear()
                server.kill()
                for _ in range(10):
                    with pytest.raises(Unavailable):
                        await database.fetch("SELECT 1")
                server.start_again()
                assert await database.fetch_value("SELECT 1") == 1
                await woken.wait()
            await database.close()

    async def test_all_who_wait_are_told_when_the_server_is_gone(self) -> None:
        with Postgres.start() as server:
            database = Database(server.address, SystemClock(), limits=ONE)
            await database.open()
            server.kill()
            answers = await asyncio.gather(
                *(database.fetch("SELECT 1") for _ in range(50)), return_exceptions=True
            )
            assert all(isinstance(answer, Unavailable) for answer in answers)
            assert not any("busy" in str(answer) for answer in answers)
            await database.close()

    async def test_a_paused_server_is_not_awaited_for_ever(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connector, "SLACK", 0.1)
        with Postgres.start() as server:
            patient = Database(server.address, SystemClock())
            await patient.open()
            await patient.close()
            database = Database(server.address, SystemClock(), limits=HASTY)
            async with asyncio.timeout(SOON):
                await answered(database)
                server.pause()
                for _ in range(3):
                    with pytest.raises(Unavailable, match="did not answer in time"):
                        await database.fetch("SELECT 1")
                server.resume()
                await answered(database)
            await database.close()

    async def test_a_standby_is_refused_in_words(
        self, database: Database, postgres: Postgres, namespace: str
    ) -> None:
        await database.open()  # there is nothing to migrate, so nobody would notice by writing
        with Postgres.standby_of(postgres) as standby:
            wrong = Database(standby.address, SystemClock(), namespace)
            with pytest.raises(Unavailable, match=r"read-only: .* name the primary"):
                await wrong.open()
            await wrong.close()

    async def test_several_hosts_lead_to_the_standby_that_was_promoted(self) -> None:
        with Postgres.start() as primary, Postgres.standby_of(primary) as standby:
            hosts = f"127.0.0.1:{standby.port},127.0.0.1:{primary.port}"
            database = Database(f"postgresql://postgres@{hosts}/postgres", SystemClock())
            assert await database.fetch_value("SELECT inet_server_port()") == primary.port
            woken = asyncio.Event()
            database.subscribe("jobs", woken.set)
            async with asyncio.timeout(SOON):
                await woken.wait()
                woken.clear()
                primary.kill()
                with pytest.raises(Unavailable):
                    await database.fetch("SELECT 1")
                standby.promote()
                assert await database.fetch_value("SELECT inet_server_port()") == standby.port
                await woken.wait()
            await database.close()


def test_what_the_server_says_in_several_lines_becomes_one() -> None:
    refused = ServerError("the database system is starting up\nDETAIL:  It replays its log.")
    refused.sqlstate = "57P03"  # type: ignore[attr-defined]
    meant = translated(refused, parse_address("postgresql://host/database"))
    assert str(meant).endswith("(the database system is starting up DETAIL: It replays its log.)")


def test_the_clients_own_states_are_not_told_to_callers() -> None:
    lost = ProtocolError("cannot switch to state 12; another operation (2) is in progress")
    meant = translated(lost, parse_address("postgresql://host/database"))
    assert str(meant) == "PostgreSQL at host/database is not available: the connection was lost"


async def test_connecting_can_be_cancelled_at_any_moment_without_a_trace(
    postgres: Postgres,
) -> None:
    loop, clock = asyncio.get_running_loop(), SystemClock()
    traces: list[object] = []
    loop.set_exception_handler(lambda _, context: traces.append(context))
    for turns in range(12):
        connecting = asyncio.ensure_future(connect(postgres.address, timeout=SOON))
        for _ in range(turns):
            await clock.sleep(0)
        connecting.cancel()
        with suppress(asyncio.CancelledError):
            (await connecting).terminate()
    ours = asyncio.current_task()
    while others := [task for task in asyncio.all_tasks() if task is not ours]:
        await asyncio.wait(others)
    await clock.sleep(0)
    gc.collect()
    assert traces == []


async def answered(database: Database) -> None:
    """Return when the server has answered; a busy one may need several questions."""
    while True:
        try:
            assert await database.fetch_value("SELECT 1") == 1
        except Unavailable:
            continue
        return
