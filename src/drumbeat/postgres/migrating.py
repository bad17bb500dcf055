"""Migrating: the schema grows by numbered files, each applied once and never changed again.

The first line of a file says when it may run. `-- deploy: before` only adds, so that it can run
while older nodes still work: whoever starts first applies it. `-- deploy: after` takes away what
only older nodes needed: a person applies it once the last of them is gone. A node that meets a
migration that it does not know goes on if it was of the first kind, and refuses the second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from drumbeat.model.errors import ConfigurationError
from drumbeat.postgres.client import Connection
from drumbeat.postgres.statements import Names, Statements

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_DEPLOY = re.compile(r"-- deploy: (before|after)\n")
SQL = Statements("drumbeat.postgres", "migrating.sql")


class Deploy(StrEnum):
    """When a migration may run."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema, with marks where the names go."""

    version: int
    name: str
    script: str

    @property
    def deploy(self) -> Deploy:
        """Before the nodes of this version start, or after the last older one is gone."""
        match = _DEPLOY.match(self.script)
        assert match, f"migration {self.version} says in its first line when it may run"
        return Deploy(match[1])

    @property
    def after(self) -> bool:
        """Whether it waits until a person asks for it."""
        return self.deploy is Deploy.AFTER

    @property
    def checksum(self) -> str:
        """Tells whether the file is still the one that was applied."""
        return blake2b(self.script.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Applied:
    """One that the database has."""

    name: str
    checksum: str
    deploy: Deploy


@cache
def known_migrations() -> tuple[Migration, ...]:
    """The migrations of this version of Drumbeat, in their order."""
    found: list[Migration] = []
    for file in files("drumbeat.postgres").joinpath("migrations").iterdir():
        match = _FILE.fullmatch(file.name)
        if match:
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.version))


async def applied_migrations(connection: Connection, names: Names) -> dict[int, Applied]:
    """What the database has, by version; empty for a new one. Looking changes nothing."""
    sql = SQL.of(names)
    if not await connection.fetchval(sql.is_there, names.namespace):
        return {}
    rows = await connection.fetch(sql.applied)
    return {
        row["version"]: Applied(row["name"], row["checksum"], Deploy(row["deploy"])) for row in rows
    }


def check(applied: Mapping[int, Applied], known: Sequence[Migration], names: Names) -> None:
    """Refuse a schema that this version of Drumbeat cannot work with."""
    ours = {migration.version: migration for migration in known}
    for version, found in sorted(applied.items()):
        migration = ours.get(version)
        if migration is None and found.deploy is Deploy.AFTER:
            raise ConfigurationError(
                f"the schema {names.schema} was made for a newer version of Drumbeat (migration "
                f"{version} {found.name} took away what this one needs); upgrade Drumbeat"
            )
        if migration is not None and (found.name, found.checksum) != (
            migration.name,
            migration.checksum,
        ):
            raise ConfigurationError(
                f"the schema {names.schema} was made by another migration {version} "
                f"({found.name}) than this version of Drumbeat has ({migration.name}); use the "
                f"version that made it, or another namespace"
            )


async def migrate(
    connection: Connection, names: Names, known: Sequence[Migration], until: Deploy
) -> list[Migration]:
    """Apply what is missing, all or none, and return it. Others who migrate wait meanwhile.

    Up to date, it takes no lock and needs no right but to read.
    """
    if not _missing(await applied_migrations(connection, names), known, names, until):
        return []
    sql = SQL.of(names)
    async with connection.transaction():
        await connection.execute(sql.be_patient)
        await connection.fetchval(sql.lock, names.namespace)
        if not await connection.fetchval(sql.has_schema, names.namespace):
            await connection.execute(sql.make_schema)
        await connection.execute(sql.make_table)
        missing = _missing(await applied_migrations(connection, names), known, names, until)
        for migration in missing:
            await connection.execute(names.filled(migration.script))
            await connection.fetch(
                sql.record,
                migration.version,
                migration.name,
                migration.checksum,
                migration.deploy,
            )
    return missing


def _missing(
    applied: Mapping[int, Applied], known: Sequence[Migration], names: Names, until: Deploy
) -> list[Migration]:
    check(applied, known, names)
    return [
        migration
        for migration in known
        if migration.version not in applied
        and (until is Deploy.AFTER or migration.deploy is Deploy.BEFORE)
    ]
