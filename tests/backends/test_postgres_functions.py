"""Functions of a PostgreSQL schema: how they are installed, and shared by two versions of Drumbeat.

A *release* here is a set of migrations and functions. Nodes of two releases open the same namespace
in any order, as they do in a rolling deployment.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.schema.function import Function, known_functions
from drumbeat.backends.postgres.schema.migration import Migration
from drumbeat.backends.postgres.schema.schema import FUNCTIONS, Schema
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError
from servers import Postgres
from tests.support.postgres_namespace import ask, tell

VERSIONS = Path(__file__).with_name("postgres_function_versions.txt")
TABLE = Migration(1, "one", "-- deploy: before\nCREATE TABLE {schema}.one (id int);\n")


def greet(version: int, greeting: str, name: str = "greet", values: str = "") -> Function:
    return Function(
        name,
        f"-- version: {version}\n-- Greets.\n"
        f"CREATE OR REPLACE FUNCTION {{schema}}.{name}({values}) RETURNS text\n"
        f"LANGUAGE sql AS $$ SELECT '{greeting}'::text $$;\n",
    )


OLD = greet(1, "good day")
NEW = greet(2, "hello")
NEW_CONTRACT = greet(1, "hello, you", "greet_2", "whom text")
WITHOUT_OLD = Migration(
    2,
    "forget_greet",
    "-- deploy: after\nDROP FUNCTION {schema}.greet();\n"
    "DELETE FROM {schema}.functions WHERE name = 'greet';\n",
)


def release(database: Database, *functions: Function, last: Migration | None = None) -> Schema:
    migrations = [TABLE] if last is None else [TABLE, last]
    return Schema(database.lend, database.names, migrations, functions)


@pytest.fixture
def greeting(postgres: Postgres, namespace: str) -> Iterator[psycopg.Connection[tuple[str]]]:
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute(f"SET search_path = {namespace}".encode())
        yield connection


def greeted(connection: psycopg.Connection[tuple[str]], call: str = "greet()") -> str:
    row = connection.execute(f"SELECT {call}".encode()).fetchone()
    assert row is not None
    return row[0]


async def test_a_function_is_installed_once(database: Database) -> None:
    schema = release(database, OLD)
    assert [step.version for step in await schema.apply()] == [1, FUNCTIONS]
    assert await schema.apply() == []
    assert await schema.applied() == {1, FUNCTIONS}


async def test_a_changed_body_with_a_higher_version_replaces_the_old_one(
    database: Database, greeting: psycopg.Connection[tuple[str]]
) -> None:
    await release(database, OLD).apply()
    upgraded = release(database, NEW)
    assert await upgraded.applied() == {1}
    assert [step.name for step in await upgraded.apply()] == ["functions"]
    assert greeted(greeting) == "hello"


async def test_an_older_node_leaves_a_newer_body_alone(
    database: Database, greeting: psycopg.Connection[tuple[str]]
) -> None:
    await release(database, NEW).apply()
    older = release(database, OLD)
    assert await older.apply() == []
    assert await older.applied() == {1, FUNCTIONS}
    assert greeted(greeting) == "hello"


async def test_of_an_older_and_a_newer_node_that_start_at_once_the_newer_body_stays(
    database: Database, greeting: psycopg.Connection[tuple[str]], postgres: Postgres, namespace: str
) -> None:
    databases = [Database(postgres.address, SystemClock(), namespace) for _ in range(6)]
    await asyncio.gather(
        *(
            release(each, NEW if number % 2 else OLD).apply()
            for number, each in enumerate(databases)
        )
    )
    assert greeted(greeting) == "hello"
    for each in databases:
        await each.close()


async def test_another_body_of_the_same_version_is_refused(database: Database) -> None:
    await release(database, OLD).apply()
    with pytest.raises(ConfigurationError, match=r"another body of the function greet .* 1"):
        await release(database, greet(1, "howdy")).apply()


async def test_a_new_contract_has_a_new_name_and_the_old_one_stays_until_the_end(
    database: Database, greeting: psycopg.Connection[tuple[str]]
) -> None:
    await release(database, OLD).apply()
    upgraded = release(database, NEW_CONTRACT, last=WITHOUT_OLD)
    assert [step.name for step in await upgraded.apply()] == ["functions"]
    assert (greeted(greeting), greeted(greeting, "greet_2('me')")) == ("good day", "hello, you")
    assert await release(database, OLD).apply() == []
    assert [step.name for step in await upgraded.apply_after()] == ["forget_greet"]
    with pytest.raises(psycopg.errors.UndefinedFunction):
        greeted(greeting)
    with pytest.raises(ConfigurationError, match="2 forget_greet removed what this one needs"):
        await release(database, OLD).apply()


async def test_calls_go_on_while_a_function_is_replaced(
    database: Database, greeting: psycopg.Connection[tuple[str]]
) -> None:
    """A connection that has prepared the old body runs the new one from the next call on."""
    await release(database, OLD).apply()
    for _ in range(10):
        assert greeted(greeting) == "good day"
    await release(database, NEW).apply()
    assert greeted(greeting) == "hello"


async def test_a_broken_function_leaves_nothing_behind(
    database: Database, greeting: psycopg.Connection[tuple[str]]
) -> None:
    await release(database, OLD).apply()
    broken = Function("broken", "-- version: 1\nCREATE FUNKTION;\n")
    with pytest.raises(Exception, match="FUNKTION"):
        await release(database, NEW, broken).apply()
    assert greeted(greeting) == "good day"
    assert [step.name for step in await release(database, NEW).apply()] == ["functions"]


async def test_what_is_printed_can_be_run_by_hand(
    database: Database, greeting: psycopg.Connection[tuple[str]], postgres: Postgres
) -> None:
    schema = release(database, NEW)
    for step in schema.known():
        tell(postgres.address, step.script)
    assert await schema.applied() == {1, FUNCTIONS}
    assert greeted(greeting) == "hello"


async def test_an_older_script_that_is_run_by_hand_does_not_replace_a_newer_body(
    database: Database, greeting: psycopg.Connection[tuple[str]], postgres: Postgres
) -> None:
    await release(database, NEW).apply()
    script = release(database, OLD).known()[-1].script
    with pytest.raises(psycopg.errors.RaiseException, match=r"newer version of Drumbeat .* greet"):
        tell(postgres.address, script)
    assert greeted(greeting) == "hello"


async def test_ours_are_all_there_and_nothing_else_is(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    await database.open()
    found = ask(
        postgres.address,
        "SELECT proname FROM pg_proc "
        f"WHERE pronamespace = '{namespace}'::regnamespace AND prorettype <> 'trigger'::regtype",
    )
    assert sorted(str(name) for (name,) in found) == [each.name for each in known_functions()]


async def test_none_of_ours_has_more_than_eight_parameters(
    database: Database, postgres: Postgres, namespace: str
) -> None:
    await database.open()
    many = f"SELECT proname FROM pg_proc WHERE pronamespace = '{namespace}'::regnamespace "
    assert ask(postgres.address, many + "AND pronargs > 8") == []


async def test_bodies_of_ours_are_valid(database: Database, postgres: Postgres) -> None:
    """They are installed without a check, since they may refer to each other in any order."""
    await database.open()
    with psycopg.connect(postgres.address) as connection:
        for function in known_functions():
            connection.execute(database.names.filled(function.script).encode())
        connection.rollback()


def test_each_of_ours_says_what_it_promises() -> None:
    for function in known_functions():
        lines = function.script.splitlines()
        assert re.fullmatch(r"-- version: [1-9]\d*", lines[0]), function.name
        assert re.match(r"-- \w", lines[1]), f"{function.name} says what it promises"
        assert f"FUNCTION {{schema}}.{function.name}(" in function.script


def test_a_changed_body_has_a_new_version() -> None:
    """The list in `postgres_function_versions.txt` shows which versions a change has raised.

    Without a higher version an older node could not know which body is the newer one. Before a
    release the list can be written anew; after it, a line changes in both numbers or in none.
    """
    known = {f"{each.name} {each.version} {each.checksum}" for each in known_functions()}
    listed = set(VERSIONS.read_text().splitlines())
    assert known == listed, (
        "raise the version in the first line of each changed function, then list it in "
        f"{VERSIONS.name}: {sorted(known - listed)}"
    )
