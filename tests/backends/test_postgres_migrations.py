"""The schema of a namespace: how it comes to be, and how it grows beneath running nodes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress

import psycopg
import pytest
from click.testing import CliRunner, Result

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.schema import schema as schema_module
from drumbeat.backends.postgres.schema.migration import Migration, known_migrations
from drumbeat.backends.postgres.schema.schema import FUNCTIONS, Schema, Step
from drumbeat.cli.main import command
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError, Unavailable
from servers import Pgbouncer, Postgres
from tests.support.postgres_namespace import ask, tell

ONE = Migration(1, "one", "-- deploy: before\nCREATE TABLE {schema}.one (id int);\n")
TWO = Migration(
    2,
    "two",
    "-- deploy: before\nCREATE TABLE {schema}.two (id int);\n"
    "CREATE FUNCTION {schema}.two_1() RETURNS void LANGUAGE plpgsql AS $$ BEGIN\n"
    "PERFORM pg_notify({channels} || 'two', '');\nEND $$;\n",
)
THREE = Migration(3, "three", "-- deploy: after\nDROP TABLE {schema}.one;\n")
BROKEN = Migration(4, "broken", "-- deploy: before\nCREATE TABLE {schema}.four (id int); SELEKT;\n")


BOOKKEEPING = {"migrations", "functions"}


def knowing(database: Database, *migrations: Migration) -> Schema:
    return Schema(database.lend, database.names, migrations, ())


def tables(postgres: Postgres, namespace: str) -> list[object]:
    """The tables of the namespace, without those that list migrations and functions."""
    question = f"SELECT tablename FROM pg_tables WHERE schemaname = '{namespace}' ORDER BY 1"
    return [name for (name,) in ask(postgres.address, question) if name not in BOOKKEEPING]


def versions(steps: Sequence[Step]) -> list[int]:
    return [step.version for step in steps]


async def test_looking_changes_nothing(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    assert await database.migrations.applied() == set()
    assert ask(postgres.address, f"SELECT 1 FROM pg_namespace WHERE nspname = '{namespace}'") == []


async def test_each_is_applied_once_and_in_order(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    assert versions(await knowing(database, ONE).apply()) == [1]
    schema = knowing(database, ONE, TWO)
    assert versions(await schema.apply()) == [2]
    assert await schema.apply() == []
    assert await schema.applied() == {1, 2}
    assert tables(postgres, namespace) == ["one", "two"]


async def test_many_who_start_at_once_apply_it_once(postgres: Postgres, namespace: str) -> None:
    databases = [Database(postgres.address, SystemClock(), namespace) for _ in range(6)]
    applied = await asyncio.gather(*(knowing(database, ONE, TWO).apply() for database in databases))
    assert sorted(versions([step for steps in applied for step in steps])) == [1, 2]
    for database in databases:
        await database.close()


async def test_a_broken_one_leaves_nothing_behind(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    with pytest.raises(Exception, match="SELEKT"):
        await knowing(database, ONE, BROKEN).apply()
    assert tables(postgres, namespace) == []
    assert await knowing(database, ONE).applied() == set()
    assert versions(await knowing(database, ONE).apply()) == [1]


async def test_what_would_break_older_nodes_waits_for_a_person(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    schema = knowing(database, ONE, TWO, THREE)
    assert versions(await schema.apply()) == [1, 2]
    assert [step.after for step in schema.known()] == [False, False, True]
    assert versions(await schema.apply_after()) == [3]
    assert tables(postgres, namespace) == ["two"]


async def test_an_older_node_goes_on_beside_what_was_added(database: Database) -> None:
    await knowing(database, ONE, TWO).apply()
    assert await knowing(database, ONE).apply() == []


async def test_an_older_node_is_refused_where_something_was_taken_away(database: Database) -> None:
    await knowing(database, ONE, TWO, THREE).apply_after()
    with pytest.raises(ConfigurationError, match=r"newer version .* 3 three removed"):
        await knowing(database, ONE, TWO).apply()


async def test_a_file_that_was_changed_afterwards_is_refused(database: Database) -> None:
    await knowing(database, ONE).apply()
    changed = Migration(1, "one", ONE.script + "SELECT 1;\n")
    with pytest.raises(ConfigurationError, match=r"made by another migration 1 \(one\)"):
        await knowing(database, changed).apply()


async def test_up_to_date_it_needs_no_right_but_to_read(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    await knowing(database, ONE).apply()
    tell(
        postgres.address,
        f"CREATE ROLE {namespace} LOGIN; GRANT USAGE ON SCHEMA {namespace} TO {namespace};"
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {namespace} TO {namespace}",
    )
    address = postgres.address.replace("postgres@", f"{namespace}@")
    limited = Database(address, SystemClock(), namespace)
    assert await knowing(limited, ONE).apply() == []
    with pytest.raises(ConfigurationError, match="permission denied for schema"):
        await knowing(limited, ONE, TWO).apply()
    await limited.close()
    tell(postgres.address, f"DROP OWNED BY {namespace}; DROP ROLE {namespace}")


async def test_what_is_printed_can_be_run_by_hand(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    schema = knowing(database, ONE, TWO, THREE)
    for step in schema.known()[:2]:
        tell(postgres.address, step.script)
    assert tables(postgres, namespace) == ["one", "two"]
    assert await schema.applied() == {1, 2}
    assert await schema.apply() == []


async def test_what_is_printed_is_done_as_a_whole_or_not_at_all(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    """Also by a client that goes on after an error, as psql does."""
    schema = knowing(database, ONE, BROKEN)
    tell(postgres.address, schema.known()[0].script)
    script = schema.known()[1].script
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        for statement in script.split(";\n"):
            with suppress(psycopg.Error):
                connection.execute(statement.encode())
    assert tables(postgres, namespace) == ["one"]
    assert await schema.applied() == {1}


async def test_a_migration_does_not_wait_for_ever_behind_a_lock(
    database: Database,
) -> None:
    await knowing(database, ONE).apply()
    hasty = Migration(
        2,
        "two",
        "-- deploy: before\nSET LOCAL lock_timeout = '100ms';\n"
        "ALTER TABLE {schema}.one ADD COLUMN more int;\n",
    )
    async with database.lend() as connection, connection.transaction():
        await connection.execute(f"LOCK TABLE {database.schema}.one")
        with pytest.raises(Unavailable, match="kept a lock for too long"):
            await knowing(database, ONE, hasty).apply()
    assert versions(await knowing(database, ONE, hasty).apply()) == [2]


async def test_a_migration_may_take_long_but_waits_for_locks_only_so_long(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    limits = ", ".join(f"current_setting('{name}') AS {name}" for name in names)
    seen = Migration(
        1, "seen", f"-- deploy: before\nCREATE TABLE {{schema}}.seen AS SELECT {limits};\n"
    )
    await knowing(database, seen).apply()
    assert ask(postgres.address, f"SELECT * FROM {namespace}.seen") == [("10s", "0", "1min")]


async def test_a_pooler_does_not_stand_in_the_way(
    pgbouncer: Pgbouncer, postgres: Postgres, namespace: str
) -> None:
    databases = [Database(pgbouncer.address, SystemClock(), namespace) for _ in range(4)]
    await asyncio.gather(*(knowing(database, ONE, TWO).apply() for database in databases))
    assert tables(postgres, namespace) == ["one", "two"]
    for database in databases:
        await database.close()


def run(address: str, namespace: str, *arguments: str) -> Result:
    """The real command line."""
    return CliRunner().invoke(
        command, ["--store", address, "--namespace", namespace, "db", *arguments, "-o", "json"]
    )


def test_the_command_line_shows_and_applies_them(postgres: Postgres, namespace: str) -> None:
    status = run(postgres.address, namespace, "status")
    assert status.exit_code == 1
    assert not any(step["applied"] for step in json.loads(status.stdout))
    assert tables(postgres, namespace) == []
    applied = json.loads(run(postgres.address, namespace, "migrate").stdout)
    names = ["baseline", "add_expiry", "add_skipped", "functions"]
    assert [step["name"] for step in applied] == names
    assert run(postgres.address, namespace, "status").exit_code == 0
    assert json.loads(run(postgres.address, namespace, "sql").stdout) == []


def test_the_command_line_keeps_some_back(
    postgres: Postgres, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_module, "known_migrations", lambda: (ONE, TWO, THREE))
    monkeypatch.setattr(schema_module, "known_functions", lambda: ())
    assert len(json.loads(run(postgres.address, namespace, "migrate").stdout)) == 2
    status = run(postgres.address, namespace, "status")
    assert status.exit_code == 0
    assert [step["applied"] for step in json.loads(status.stdout)] == [True, True, False]
    assert json.loads(run(postgres.address, namespace, "sql").stdout) == []
    printed = json.loads(run(postgres.address, namespace, "sql", "--after").stdout)
    assert [step["version"] for step in printed] == [3]
    after = json.loads(run(postgres.address, namespace, "migrate", "--after").stdout)
    assert after == [{"version": 3, "name": "three"}]


async def test_ours_say_when_they_may_run_and_apply(database: Database) -> None:
    known = known_migrations()
    numbers = [migration.version for migration in known]
    assert numbers == list(range(1, len(known) + 1))
    for migration in known:
        assert migration.deploy in ("before", "after")
    await database.open()
    assert {*numbers, FUNCTIONS} - set(await database.migrations.applied()) == {
        migration.version for migration in known if migration.after
    }


async def test_dead_rows_of_unfinished_jobs_are_cleared_away_early(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    await database.open()
    question = (
        "SELECT option_name || '=' || option_value "
        "FROM pg_class, pg_options_to_table(reloptions) "
        f"WHERE oid = '{namespace}.jobs'::regclass"
    )
    assert {
        ("autovacuum_vacuum_scale_factor=0.02",),
        ("autovacuum_vacuum_threshold=2000",),
        ("autovacuum_vacuum_cost_delay=0",),
    } <= {*ask(postgres.address, question)}
