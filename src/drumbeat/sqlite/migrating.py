"""Migrating: the schema grows by numbered files, each applied once and never changed again."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

from drumbeat.model.errors import ConfigurationError

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        """Tells whether the file is still the one that was applied."""
        return blake2b(self.script.encode(), digest_size=16).hexdigest()


def known_migrations() -> tuple[Migration, ...]:
    """The migrations of this version of Drumbeat, in their order."""
    found: list[Migration] = []
    for file in files("drumbeat.sqlite").joinpath("migrations").iterdir():
        match = _FILE.fullmatch(file.name)
        if match:
            script = file.read_text(encoding="utf-8")
            found.append(Migration(int(match[1]), match[2], script))
    return tuple(sorted(found, key=lambda migration: migration.version))


@dataclass(frozen=True, slots=True)
class Naming:
    """Whose file it is to be."""

    path: Path
    namespace: str


def migrate(
    connection: sqlite3.Connection,
    naming: Naming,
    now: int,
    migrations: Sequence[Migration] | None = None,
) -> None:
    """Bring the file up to date, in one transaction, and make sure that it is the right one.

    A file that a newer version wrote, whose migrations are not ours, or that holds another
    namespace is refused with a `ConfigurationError`, and nothing is changed.
    """
    known = known_migrations() if migrations is None else migrations
    if _pending(connection, naming.path, known):
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(_TABLE)
            for migration in _pending(connection, naming.path, known):
                _apply(connection, migration, now)
            _name(connection, naming.namespace)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    _check_namespace(connection, naming)


def domain_of(connection: sqlite3.Connection) -> str:
    """The file's own identity, given to it when it was made."""
    (domain,) = connection.execute("SELECT value FROM identity WHERE name = 'domain'").fetchone()
    return str(domain)


def applied_migrations(connection: sqlite3.Connection) -> dict[int, tuple[str, str]]:
    """Names and checksums of what was applied, by version; empty for a new file."""
    try:
        rows = connection.execute("SELECT version, name, checksum FROM migrations").fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return {}
    return {version: (name, checksum) for version, name, checksum in rows}


def _pending(
    connection: sqlite3.Connection, path: Path, known: Sequence[Migration]
) -> list[Migration]:
    applied = applied_migrations(connection)
    newest = known[-1].version
    if applied and max(applied) > newest:
        raise ConfigurationError(
            f"{path} was written by a newer version of Drumbeat (schema {max(applied)}, this one "
            f"knows {newest}); upgrade Drumbeat, or use another file"
        )
    for migration in known:
        if migration.version in applied:
            name, checksum = applied[migration.version]
            if (name, checksum) != (migration.name, migration.checksum):
                raise ConfigurationError(
                    f"{path} was made by another schema {migration.version} ({name}) than this "
                    f"version of Drumbeat has ({migration.name}); use the version that made it"
                )
    return [migration for migration in known if migration.version not in applied]


def _apply(connection: sqlite3.Connection, migration: Migration, now: int) -> None:
    for statement in _statements(migration.script):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
        (migration.version, migration.name, migration.checksum, now),
    )


def _name(connection: sqlite3.Connection, namespace: str) -> None:
    connection.execute(
        "INSERT INTO identity (name, value) VALUES ('domain', ?), ('namespace', ?)"
        " ON CONFLICT DO NOTHING",
        (f"sqlite-{uuid4().hex}", namespace),
    )


def _check_namespace(connection: sqlite3.Connection, naming: Naming) -> None:
    (found,) = connection.execute("SELECT value FROM identity WHERE name = 'namespace'").fetchone()
    if found != naming.namespace:
        raise ConfigurationError(
            f"{naming.path} holds the namespace {found!r}; give {naming.namespace!r} a file of "
            f"its own"
        )


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would commit before it begins."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    assert not statement.strip(), "a migration ends with a semicolon"
