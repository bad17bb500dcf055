"""Migrations: the schema is its baseline, and then numbered files, each applied once.

A node applies what is missing when it opens the file, in one transaction. A file of a newer version
is refused: SQLite files are used by the processes of one machine, which are upgraded together.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from drumbeat.backends.sql.migration_files import BASELINE, read_baseline, read_migrations
from drumbeat.model.errors import ConfigurationError

PACKAGE = "drumbeat.backends.sqlite.schema"
TABLES = (
    *("counters", "limit_groups", "jobs", "schedules", "nodes", "fence", "queues", "audit"),
    *("tokens", "coordinator"),
)
"""The files of the baseline, in order."""
_MIGRATIONS = """
CREATE TABLE IF NOT EXISTS migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One version of the schema."""

    version: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        """Tells whether the script is still the one that was applied."""
        return blake2b(self.script.encode(), digest_size=16).hexdigest()


class Applied(NamedTuple):
    """A version that a file has."""

    version: int
    name: str
    checksum: str


@dataclass(frozen=True, slots=True)
class FileOwner:
    """The file, and the namespace that it holds."""

    path: Path
    namespace: str


@cache
def known_migrations() -> tuple[Migration, ...]:
    """The migrations of this version of Drumbeat, in order."""
    baseline = Migration(1, BASELINE, read_baseline(PACKAGE, TABLES))
    return (baseline, *(Migration(*each) for each in read_migrations(PACKAGE)))


def migrate(
    connection: sqlite3.Connection,
    owner: FileOwner,
    now: int,
    migrations: Sequence[Migration] | None = None,
) -> None:
    """Apply the missing migrations in one transaction, and check that the file is the right one.

    A `ConfigurationError` refuses a file of a newer version, of other migrations or of another
    namespace, and changes nothing.
    """
    known = known_migrations() if migrations is None else migrations
    if _missing(connection, owner.path, known):
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(_MIGRATIONS)
            for migration in _missing(connection, owner.path, known):
                _apply(connection, migration, now)
            _identify(connection, owner.namespace)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    _check_namespace(connection, owner)


def domain_of(connection: sqlite3.Connection) -> str:
    """The file's own identity, given to it when it was created."""
    (domain,) = connection.execute("SELECT value FROM identity WHERE name = 'domain'").fetchone()
    return str(domain)


def applied_migrations(connection: sqlite3.Connection) -> dict[int, Applied]:
    """What was applied, by version; empty for a new file."""
    try:
        rows = connection.execute("SELECT version, name, checksum FROM migrations").fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return {}
    return {each.version: each for each in map(Applied._make, rows)}


def _missing(
    connection: sqlite3.Connection, path: Path, known: Sequence[Migration]
) -> list[Migration]:
    applied = applied_migrations(connection)
    _check(applied, path, known)
    return [migration for migration in known if migration.version not in applied]


def _check(applied: Mapping[int, Applied], path: Path, known: Sequence[Migration]) -> None:
    if applied and applied[min(applied)].name != BASELINE:
        raise ConfigurationError(
            f"{path} was made by an unreleased version of Drumbeat, whose tables cannot be "
            f"upgraded; use a new file"
        )
    newest = known[-1].version
    if applied and max(applied) > newest:
        raise ConfigurationError(
            f"{path} was written by a newer version of Drumbeat (schema {max(applied)}, this one "
            f"knows {newest}); upgrade Drumbeat, or use another file"
        )
    for migration in known:
        found = applied.get(migration.version)
        if found and (found.name, found.checksum) != (migration.name, migration.checksum):
            raise ConfigurationError(
                f"{path} was made by another schema {migration.version} ({found.name}) than this "
                f"version of Drumbeat has ({migration.name}); use the version that made it"
            )


def _apply(connection: sqlite3.Connection, migration: Migration, now: int) -> None:
    for statement in _statements(migration.script):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
        (migration.version, migration.name, migration.checksum, now),
    )


def _identify(connection: sqlite3.Connection, namespace: str) -> None:
    connection.execute(
        "INSERT INTO identity (name, value) VALUES ('domain', ?), ('namespace', ?)"
        " ON CONFLICT DO NOTHING",
        (f"sqlite-{uuid4().hex}", namespace),
    )


def _check_namespace(connection: sqlite3.Connection, owner: FileOwner) -> None:
    (found,) = connection.execute("SELECT value FROM identity WHERE name = 'namespace'").fetchone()
    if found != owner.namespace:
        raise ConfigurationError(
            f"{owner.path} holds the namespace {found!r}; give {owner.namespace!r} a file of "
            f"its own"
        )


def _statements(script: str) -> Iterator[str]:
    """The statements one by one: `executescript` would commit before it begins."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    assert not statement.strip(), "a script ends with a semicolon"
