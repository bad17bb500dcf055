"""The upgrade of a namespace: finds and applies missing migrations and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from drumbeat.backends.postgres.connection.client import Connection
from drumbeat.backends.postgres.connection.statements import Names, Statements
from drumbeat.backends.postgres.schema.function import Function
from drumbeat.backends.postgres.schema.migration import Deploy, Migration
from drumbeat.model.errors import ConfigurationError

SQL = Statements("drumbeat.backends.postgres.schema", "bookkeeping.sql")


class AppliedMigration(NamedTuple):
    """A migration that the database has."""

    name: str
    checksum: str
    deploy: Deploy


class InstalledFunction(NamedTuple):
    """A function that the database has."""

    version: int
    checksum: str


class Found(NamedTuple):
    """The migrations and functions of the database; empty if it is new."""

    migrations: Mapping[int, AppliedMigration]
    functions: Mapping[str, InstalledFunction]


class Pending(NamedTuple):
    """What is missing, in the order in which it is applied."""

    migrations: Sequence[Migration]
    functions: Sequence[Function]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The migrations and functions of one version of Drumbeat."""

    names: Names
    migrations: Sequence[Migration]
    functions: Sequence[Function]

    async def found(self, connection: Connection) -> Found:
        """Read what the database has, without changing it."""
        sql = SQL.of(self.names)
        if not await connection.fetchval(sql.has_bookkeeping, self.names.namespace):
            return Found({}, {})
        return Found(
            {
                row["version"]: AppliedMigration(
                    row["name"], row["checksum"], Deploy(row["deploy"])
                )
                for row in await connection.fetch(sql.applied_migrations)
            },
            {
                row["name"]: InstalledFunction(row["version"], row["checksum"])
                for row in await connection.fetch(sql.installed_functions)
            },
        )

    def pending(self, found: Found, until: Deploy) -> Pending:
        """What is missing; `ConfigurationError` if this version cannot work with the schema."""
        self._check_migrations(found)
        migrations = [
            migration
            for migration in self.migrations
            if migration.version not in found.migrations
            and (until is Deploy.AFTER or migration.deploy is Deploy.BEFORE)
        ]
        return Pending(migrations, [each for each in self.functions if self._replaces(each, found)])

    async def apply(self, connection: Connection, until: Deploy) -> Pending:
        """Apply what is missing, all or none, and return it. Other upgrades wait meanwhile.

        If nothing is missing, it takes no lock and only needs the right to read.
        """
        pending = self.pending(await self.found(connection), until)
        if not (pending.migrations or pending.functions):
            return pending
        sql = SQL.of(self.names)
        async with connection.transaction():
            await connection.execute(sql.set_timeouts)
            await connection.fetchval(sql.lock, self.names.namespace)
            if not await connection.fetchval(sql.has_schema, self.names.namespace):
                await connection.execute(sql.create_schema)
            await connection.execute(sql.create_bookkeeping)
            pending = self.pending(await self.found(connection), until)
            scripts = [
                *map(self._script, pending.migrations),
                *map(self._script, pending.functions),
            ]
            if scripts:  # another node may have been faster
                await connection.execute("\n".join(scripts))
        return pending

    def _script(self, each: Migration | Function) -> str:
        return f"{self.names.filled(each.script)}\n;{recorded(self.names, each)};"

    def _replaces(self, function: Function, found: Found) -> bool:
        """Whether to install it: it is missing, or older in the database. A newer one stays."""
        installed = found.functions.get(function.name)
        if installed is None or installed.version < function.version:
            return True
        if installed.version == function.version and installed.checksum != function.checksum:
            raise ConfigurationError(
                f"the schema {self.names.schema} has another body of the function {function.name} "
                f"with the same version {function.version}; raise the version in the first line "
                f"of its file, or use another namespace"
            )
        return False

    def _check_migrations(self, found: Found) -> None:
        ours = {migration.version: migration for migration in self.migrations}
        for version, applied in sorted(found.migrations.items()):
            migration = ours.get(version)
            if migration is None and applied.deploy is Deploy.AFTER:
                raise ConfigurationError(
                    f"the schema {self.names.schema} was made for a newer version of Drumbeat "
                    f"(migration {version} {applied.name} removed what this one needs); upgrade "
                    f"Drumbeat"
                )
            if migration is not None and (applied.name, applied.checksum) != (
                migration.name,
                migration.checksum,
            ):
                raise ConfigurationError(
                    f"the schema {self.names.schema} was made by another migration {version} "
                    f"({applied.name}) than this version of Drumbeat has ({migration.name}); use "
                    f"the version that made it, or another namespace"
                )


def recorded(names: Names, applied: Migration | Function) -> str:
    """The statement that records it. Names and checksums have no quotes in them."""
    sql = SQL.of(names)
    values = {
        "version": str(applied.version),
        "name": f"'{applied.name}'",
        "checksum": f"'{applied.checksum}'",
    }
    if isinstance(applied, Function):
        return _with_values(sql.record_function, values)
    return _with_values(sql.record_migration, {**values, "deploy": f"'{applied.deploy}'"})


def refusal(names: Names, function: Function) -> str:
    """The statement that stops a script which would replace a newer function."""
    values = {"version": str(function.version), "name": f"'{function.name}'"}
    return _with_values(SQL.of(names).refuse_older_function, values)


def _with_values(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
