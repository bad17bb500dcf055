"""The layer under store and coordinator: addresses, opening, errors, and the pool."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from drumbeat.engine.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.postgres import connecting, pool
from drumbeat.postgres.client import ServerError
from drumbeat.postgres.connecting import Limits
from drumbeat.postgres.database import Database
from drumbeat.testing.conformance.builders import let_others_run
from servers import Postgres

from .hand_clock import HandClock
from .postgres_namespace import ask, namespace_in, tell, until

SOON = 40.0
HASTY = Limits(connections=2, patience=SOON, connecting=SOON, statement=4.0, lock=0.3)
ONE, TWO = (Limits(number, patience=SOON, connecting=SOON) for number in (1, 2))
SLEEPING = (
    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%sleep(30)' AND state = 'active'"
)


@pytest.fixture
def namespace(postgres: Postgres) -> Iterator[str]:
    with namespace_in(postgres.address) as name:
        yield name


@pytest.fixture
async def database(postgres: Postgres, namespace: str) -> AsyncIterator[Database]:
    database = Database(postgres.address, SystemClock(), namespace)
    yield database
    await database.close()


@pytest.fixture
async def hasty(
    postgres: Postgres, namespace: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Database]:
    monkeypatch.setattr(connecting, "SLACK", SOON)  # the server itself says what takes too long
    await database.open()  # a busy machine may take its time to make the schema
    hasty = Database(postgres.address, SystemClock(), namespace, HASTY)
    yield hasty
    await hasty.close()


class TestOpening:
    async def test_a_namespace_becomes_a_schema_once(self, database: Database) -> None:
        await database.open()
        await database.open()
        assert set(await database.migrations.applied()) >= {2}
        assert (
            await database.fetch_value(f"SELECT count(*) FROM {database.schema}.coordinator") == 1
        )

    async def test_a_call_opens_what_is_closed(self, database: Database) -> None:
        for _ in range(2):
            assert await database.fetch_value("SELECT 1") == 1
            await database.close()

    async def test_a_namespace_may_have_any_case_and_dashes(self, postgres: Postgres) -> None:
        database = Database(postgres.address, SystemClock(), "My-App")
        await database.open()
        assert ask(postgres.address, "SELECT 1 FROM pg_namespace WHERE nspname = 'My-App'")
        await database.close()
        tell(postgres.address, 'DROP SCHEMA "My-App" CASCADE')

    async def test_sessions_have_their_limits(self, database: Database) -> None:
        rows = await database.fetch(
            "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', "
            "'lock_timeout', 'idle_in_transaction_session_timeout', 'jit') ORDER BY name"
        )
        assert [tuple(row) for row in rows] == [
            ("idle_in_transaction_session_timeout", "10000"),
            ("jit", "off"),
            ("lock_timeout", "10000"),
            ("statement_timeout", "30000"),
        ]

    async def test_a_statement_is_prepared_once_and_kept(self, hasty: Database) -> None:
        for _ in range(5):
            await hasty.fetch("SELECT $1::int + 41", 1)
        kept = (
            "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement = $1"
        )
        assert await hasty.fetch_value(kept, "SELECT $1::int + 41") == 5

    @pytest.mark.parametrize(
        ("user", "path", "sentence"),
        [
            ("postgres", "nowhere", "there is no such database"),
            ("nobody:hunter2", "postgres", "the server refuses this user"),
        ],
    )
    async def test_what_will_not_heal_is_refused(
        self, postgres: Postgres, user: str, path: str, sentence: str
    ) -> None:
        address = f"postgresql://{user}@127.0.0.1:{postgres.port}/{path}"
        with pytest.raises(ConfigurationError, match=sentence) as refused:
            await Database(address, SystemClock()).open()
        assert "hunter2" not in str(refused.value)

    async def test_a_missing_right_is_named(self, postgres: Postgres, namespace: str) -> None:
        tell(postgres.address, f"CREATE ROLE {namespace} LOGIN")
        address = postgres.address.replace("postgres@", f"{namespace}@")
        database = Database(address, SystemClock(), namespace)
        with pytest.raises(ConfigurationError, match="permission denied for database"):
            await database.open()
        await database.close()
        tell(postgres.address, f"DROP ROLE {namespace}")

    async def test_another_encoding_is_refused(self, postgres: Postgres, namespace: str) -> None:
        tell(
            postgres.address,
            f"CREATE DATABASE {namespace} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' "
            f"TEMPLATE template0",
        )
        database = Database(postgres.address.removesuffix("postgres") + namespace, SystemClock())
        with pytest.raises(ConfigurationError, match="encoding SQL_ASCII; Drumbeat needs UTF8"):
            await database.open()
        await database.close()
        tell(postgres.address, f"DROP DATABASE {namespace} WITH (FORCE)")

    async def test_an_older_server_is_refused(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connecting, "OLDEST", 99)
        with pytest.raises(ConfigurationError, match=r"has version 15; Drumbeat needs 99 or later"):
            await database.open()

    async def test_nobody_there_may_heal(self, namespace: str) -> None:
        with pytest.raises(Unavailable, match="it cannot be reached"):
            await Database("postgresql://127.0.0.1:1/x", SystemClock()).open()

    async def test_a_wrong_password_is_refused_and_not_repeated(self) -> None:
        with Postgres.start() as server:
            tell(server.address, "ALTER ROLE postgres PASSWORD 'right'")
            (server.data / "pg_hba.conf").write_text("host all all all scram-sha-256\n")
            tell(server.address, "SELECT pg_reload_conf()")
            server_address = server.address.replace("postgres@", "postgres:hunter2@")
            await until(lambda: "reloading configuration" in server.log())
            database = Database(server_address, SystemClock())
            with pytest.raises(ConfigurationError, match="the password is wrong") as refused:
                await database.open()
            assert "hunter2" not in f"{refused.value} {refused.value.__cause__} {database!r}"


class TestErrors:
    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("25006", "this server is read-only: .* name the primary"),
            ("40001", "clashed with another"),
            ("40P01", "two transactions waited for each other"),
            ("53100", "disk is full"),
            ("53300", "no connection left"),
            ("55P03", "kept a lock for too long"),
            ("57P03", "does not take connections"),
            ("58030", "the server's system failed"),
        ],
    )
    async def test_what_may_heal_is_unavailable_in_words(
        self, database: Database, code: str, words: str
    ) -> None:
        with pytest.raises(Unavailable, match=words):
            await database.fetch(_raising(code))
        assert await database.fetch_value("SELECT 1") == 1

    async def test_a_fault_of_ours_is_left_as_it_is(self, database: Database) -> None:
        for statement in ("SELEKT 1", "SELECT 1 / 0", _raising("P0001")):
            with pytest.raises(ServerError):
                await database.fetch(statement)
        with pytest.raises(ServerError, match="invalid input"):
            await database.fetch("SELECT $1::int", "x")

    async def test_a_statement_that_takes_too_long_is_ended(self, hasty: Database) -> None:
        with pytest.raises(Unavailable, match="took too long"):
            await hasty.fetch("SELECT pg_sleep(30)")

    async def test_a_lock_that_another_keeps_is_not_awaited_for_ever(self, hasty: Database) -> None:
        lock = f"LOCK TABLE {hasty.schema}.leases"
        async with hasty.borrow() as connection, connection.transaction():
            await connection.execute(lock)
            with pytest.raises(Unavailable, match="kept a lock for too long"):
                await hasty.fetch(f"SELECT * FROM {hasty.schema}.leases")

    async def test_a_server_without_a_free_connection_says_so(self) -> None:
        settings = {"max_connections": "4", "superuser_reserved_connections": "0"}
        with Postgres.start(settings=settings) as server:
            database = Database(server.address, SystemClock(), limits=Limits(connections=8))
            answers = await asyncio.gather(
                *(database.fetch("SELECT pg_sleep(0.2)") for _ in range(8)), return_exceptions=True
            )
            refused = [str(answer) for answer in answers if isinstance(answer, Unavailable)]
            assert refused
            assert all("raise max_connections" in sentence for sentence in refused)
            await database.close()


def _raising(code: str) -> str:
    body = f"RAISE EXCEPTION 'planted' USING ERRCODE = '{code}'"
    return f"DO $$ BEGIN {body}; END $$"


class TestPool:
    async def test_connections_are_opened_on_demand_and_used_again(
        self, database: Database, postgres: Postgres
    ) -> None:
        pids = {await database.fetch_value("SELECT pg_backend_pid()") for _ in range(20)}
        assert len(pids) == 1
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(database.fetch_value("SELECT pg_backend_pid()"))
                for _ in range(50)
            ]
        assert 1 < len({task.result() for task in tasks}) <= 4

    async def test_whoever_waits_too_long_is_told_that_all_are_busy(
        self, postgres: Postgres, namespace: str
    ) -> None:
        clock = HandClock()
        database = Database(postgres.address, clock, namespace, Limits(connections=1))
        async with database.borrow():
            waiting = asyncio.ensure_future(database.fetch("SELECT 1"))
            await let_others_run()
            await clock.advance(timedelta(seconds=5))
            with pytest.raises(Unavailable, match="all 1 connections are busy"):
                await waiting
        assert await database.fetch_value("SELECT 1") == 1
        await database.close()

    async def test_those_who_wait_are_served_in_turn(
        self, postgres: Postgres, namespace: str
    ) -> None:
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        served: list[int] = []

        async def ask_as(number: int) -> None:
            await database.fetch("SELECT 1")
            served.append(number)

        async with asyncio.TaskGroup() as group, database.borrow():
            for number in range(5):
                group.create_task(ask_as(number))
            await let_others_run()
        assert served == [0, 1, 2, 3, 4]
        await database.close()

    async def test_a_connection_is_not_lost_with_a_waiter_that_was_cancelled(
        self, postgres: Postgres, namespace: str
    ) -> None:
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        async with database.borrow():
            waiting = asyncio.ensure_future(database.fetch("SELECT 1"))
            await let_others_run()
        waiting.cancel()  # the connection was handed to it in this very moment
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(SOON):
            assert await database.fetch_value("SELECT 1") == 1
        await database.close()

    async def test_a_cancelled_caller_ends_its_statement_and_harms_nobody(
        self, postgres: Postgres, namespace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "MENDING", SOON)  # a busy server may heed it late
        database = Database(postgres.address, SystemClock(), namespace, ONE)
        first = await database.fetch_value("SELECT pg_backend_pid()")
        sleeping = asyncio.ensure_future(database.fetch("SELECT pg_sleep(30)"))
        await until(lambda: ask(postgres.address, SLEEPING) == [(1,)])
        sleeping.cancel()
        async with asyncio.timeout(SOON):
            with pytest.raises(asyncio.CancelledError):
                await sleeping
            assert await database.fetch_value("SELECT pg_backend_pid()") == first
        assert ask(postgres.address, SLEEPING) == [(0,)]
        await database.close()

    async def test_nobody_gets_a_connection_whose_statement_still_runs(
        self, postgres: Postgres, namespace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "MENDING", 2 * SOON)
        database = Database(postgres.address, SystemClock(), namespace, TWO)
        stuck = int(await database.fetch_value("SELECT pg_backend_pid()"))
        sleeping = asyncio.ensure_future(database.fetch("SELECT pg_sleep(30)"))
        await until(lambda: ask(postgres.address, SLEEPING) == [(1,)])
        os.kill(stuck, signal.SIGSTOP)  # it does not hear that it is to be cancelled
        try:
            sleeping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sleeping
            async with asyncio.timeout(SOON):
                assert await database.fetch_value("SELECT pg_backend_pid()") != stuck
        finally:
            os.kill(stuck, signal.SIGCONT)
        await until(lambda: ask(postgres.address, SLEEPING) == [(0,)])
        await database.close()

    async def test_a_transaction_that_was_left_open_is_over(self, hasty: Database) -> None:
        async with hasty.borrow() as connection:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            await connection.execute("BEGIN")
        async with hasty.borrow() as connection:
            assert not connection.is_in_transaction()
            assert await connection.fetchval("SELECT pg_backend_pid()") != pid

    async def test_a_cancelled_transaction_is_rolled_back(self, hasty: Database) -> None:
        table = f"{hasty.schema}.configuration"

        async def half() -> None:
            async with hasty.borrow() as connection, connection.transaction():
                await connection.execute(f"INSERT INTO {table} VALUES ('key', '', 1)")
                await asyncio.Event().wait()

        task = asyncio.ensure_future(half())
        active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        while await hasty.fetch_value(active) == 0:
            await let_others_run()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await hasty.fetch_value(f"SELECT count(*) FROM {table}") == 0

    @pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # that loop's, and it is over
    async def test_connections_of_a_loop_that_ended_are_let_go(
        self, database: Database, postgres: Postgres
    ) -> None:
        here = await database.fetch_value("SELECT pg_backend_pid()")
        there = await asyncio.to_thread(
            asyncio.run, database.fetch_value("SELECT pg_backend_pid()")
        )
        assert there != here
        again = await asyncio.to_thread(asyncio.run, database.fetch_value("SELECT 1"))
        assert again == 1
        gc.collect()
        gone = f"SELECT count(*) FROM pg_stat_activity WHERE pid = {there}"
        await until(lambda: ask(postgres.address, gone) == [(0,)])
        assert await database.fetch_value("SELECT pg_backend_pid()") == here
        await database.close()
        gc.collect()

    async def test_connections_of_a_loop_that_still_runs_are_closed_there(
        self, database: Database, postgres: Postgres
    ) -> None:
        asked, closed = threading.Event(), threading.Event()

        async def elsewhere() -> None:
            await database.fetch("SELECT 1 AS elsewhere")
            asked.set()
            await asyncio.to_thread(closed.wait, SOON)

        thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
        thread.start()
        await asyncio.to_thread(asked.wait, SOON)
        await database.close()
        seen = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%AS elsewhere'"
        await until(lambda: ask(postgres.address, seen) == [(0,)])
        closed.set()
        await asyncio.to_thread(thread.join)

    async def test_a_forked_process_leaves_its_parents_connections_alone(
        self, postgres: Postgres, namespace: str
    ) -> None:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", FORKING, postgres.address, namespace],
            capture_output=True,
            text=True,
            check=True,
            timeout=SOON,
        )
        before, child, after = done.stdout.split()
        assert before == after
        assert child != before


FORKING = """
import asyncio, os, sys
from drumbeat.engine.runtime import SystemClock
from drumbeat.postgres.database import Database

async def main() -> None:
    database = Database(sys.argv[1], SystemClock(), sys.argv[2])
    process = lambda: database.fetch_value("SELECT pg_backend_pid()")
    print(await process(), flush=True)
    child = os.fork()
    if child == 0:
        async def inside() -> None:
            print(await process(), flush=True)
            await database.close()
        asyncio.run(inside())
        os._exit(0)
    os.waitpid(child, 0)
    print(await process(), flush=True)
    await database.close()

asyncio.run(main())
"""
