"""The layer under store and coordinator: opening, and errors."""

from __future__ import annotations

import asyncio

import pytest

from drumbeat.backends.postgres.connection import connector
from drumbeat.backends.postgres.connection.client import ServerError
from drumbeat.backends.postgres.connection.connector import Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.schema.schema import FUNCTIONS
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError, Unavailable
from servers import Postgres
from tests.support.postgres_namespace import ask, tell, until


class TestOpening:
    async def test_a_namespace_becomes_a_schema_once(self, database: Database) -> None:
        await database.open()
        await database.open()
        assert set(await database.migrations.applied()) == {1, 2, 3, FUNCTIONS}
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
        monkeypatch.setattr(connector, "OLDEST", 99)
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
