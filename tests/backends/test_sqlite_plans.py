"""Query plans: no hot statement looks through the jobs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from drumbeat.backends.sqlite.connection.connections import connect_writer
from drumbeat.backends.sqlite.connection.statements import Statement, Statements
from drumbeat.backends.sqlite.coordinator import configuration, leases, registry
from drumbeat.backends.sqlite.schema.migration import FileOwner, migrate
from drumbeat.backends.sqlite.store import sql
from drumbeat.backends.sqlite.store.jobs.claim import ARMS
from drumbeat.backends.sqlite.store.jobs.job_store import HELD_BY, JOBS_BY_ID, LOST

SMALL = {
    *("nodes", "counters", "coordinator_counters", "registry", "leases", "lanes"),
    *("paused_queues", "forgotten_jobs", "tokens"),
}
"""Tables that have few rows, whatever happens."""
LOOKS_THROUGH = {
    "held_by": {"running"},  # as many rows as workers have slots
    "lost": {"running"},
    "stale": {"queued"},  # asked once in a while, and only where another queue carries the tickets
    "soonest": {"pending"},  # reads the first row
    "next_expiry": {"expiring"},  # as far as the first job that does not run
    "counters": {"fronts", "openings"},  # asks whether there is a first row
    "delete_nodes": {"nodes"},
    "delete_starts": {"rate_starts"},
    "oldest": {"queued", "busy", "ranks"},  # reads the first row, then one for each group and rank
    "newest": {"jobs"},  # reads the last row
    "unused_groups": {"limit_groups"},  # reads an index that has only what it looks for
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("plans") / "drumbeat.db"
    connection = connect_writer(path, 1.0)
    migrate(connection, FileOwner(path, "drumbeat"), 0)
    yield connection
    connection.close()


def plan_of(connection: sqlite3.Connection, text: str) -> list[str]:
    names = set(re.findall(r":(\w+)", text))
    values = dict.fromkeys(names) if names else [None] * text.count("?")
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]


def scanned(plan: list[str]) -> set[str]:
    """The tables that are read from one end to the other."""
    found = (re.match(r"SCAN (\w+)", line) for line in plan if "VIRTUAL TABLE" not in line)
    return {match[1] for match in found if match}


def every_statement() -> list[Statement]:
    files: list[Statements] = [
        *(sql.JOBS, sql.CLAIMS, sql.VIEWS, sql.SCHEDULES, sql.NODES, sql.RETENTION),
        *(sql.QUEUES, sql.AUDIT, sql.TOKENS),
        *(leases.SQL, registry.SQL, configuration.SQL),
    ]
    return [statement for file in files for statement in file.all.values()]


WHOLE = [statement for statement in every_statement() if "%s" not in statement.text]


@pytest.mark.parametrize("statement", WHOLE, ids=[each.name for each in WHOLE])
def test_no_statement_looks_through_a_table_that_grows(
    connection: sqlite3.Connection, statement: Statement
) -> None:
    plan = plan_of(connection, statement.text)
    temporary = {"CONSTANT", "changed", "moved", "advanced", "ended", "wanted", "settled"}
    assert scanned(plan) - SMALL - temporary <= LOOKS_THROUGH.get(statement.name, set()), plan


@pytest.mark.parametrize("text", [JOBS_BY_ID, HELD_BY, LOST])
def test_reading_attempts_and_jobs_by_number_looks_through_no_jobs(
    connection: sqlite3.Connection, text: str
) -> None:
    assert scanned(plan_of(connection, text)) <= {"running"}


@pytest.mark.parametrize("arms", ARMS)
def test_a_claim_over_several_lanes_merges_them_and_sorts_nothing(
    connection: sqlite3.Connection, arms: int
) -> None:
    text = sql.CLAIMS.first_of_lanes % " UNION ALL ".join([sql.CLAIMS.first_of_lane] * arms)
    plan = plan_of(connection, text)
    assert scanned(plan) <= {"queued"} or arms == 1
    assert not any("TEMP B-TREE" in line for line in plan), plan
    assert sum("SEARCH queued USING PRIMARY KEY" in line for line in plan) == arms


@pytest.mark.parametrize(
    "name", ["first_of_group", "next_of_group", "open_fronts", "due", "recorded", "revisions"]
)
def test_what_comes_in_order_is_not_sorted(connection: sqlite3.Connection, name: str) -> None:
    statements = {each.name: each for each in WHOLE}
    plan = plan_of(connection, statements[name].text)
    assert not any("TEMP B-TREE" in line for line in plan), plan


def test_limit_groups_without_jobs_are_found_by_their_index(connection: sqlite3.Connection) -> None:
    (plan,) = plan_of(connection, sql.RETENTION.unused_groups)
    assert "USING INDEX limit_groups_unused" in plan


def test_every_statement_says_what_it_is_for() -> None:
    assert all(len(statement.reason) > 10 for statement in every_statement())
    assert len(WHOLE) > 60


def test_a_package_ships_its_sql() -> None:
    package = Path(sql.__file__).parents[2]
    assert len(list(package.rglob("*.sql"))) >= 11
