"""The schema of a namespace, for those who look at it and migrate it by hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from drumbeat.postgres.client import Connection
from drumbeat.postgres.migrating import (
    Deploy,
    Migration,
    applied_migrations,
    known_migrations,
    migrate,
)
from drumbeat.postgres.statements import Names, Statements

SQL = Statements("drumbeat.postgres", "migrating.sql")


class Lender(Protocol):
    """Whoever has connections."""

    def lend(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for a while."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One migration as a person would run it by hand."""

    version: int
    name: str
    script: str
    """Complete, as one transaction: what it does, and that it was done."""
    after: bool
    """Whether it waits until the last node of an older version is gone."""


class Schema:
    """Which migrations there are, and which were applied."""

    def __init__(
        self, lender: Lender, names: Names, migrations: Sequence[Migration] | None = None
    ) -> None:
        self._lender = lender
        self._names = names
        self._migrations = known_migrations() if migrations is None else tuple(migrations)

    def known(self) -> Sequence[Step]:
        """The migrations of this version of Drumbeat, in order, as they would run."""
        first = self._migrations[0].version
        return [self._step(each, new=each.version == first) for each in self._migrations]

    async def applied(self) -> Collection[int]:
        """The numbers of those that were applied. Looking changes nothing."""
        async with self._lender.lend() as connection:
            return frozenset(await applied_migrations(connection, self._names))

    async def apply(self) -> Sequence[Migration]:
        """Apply those that older nodes can live with, all or none, and return them."""
        return await self._migrate(Deploy.BEFORE)

    async def apply_after(self) -> Sequence[Migration]:
        """Apply the others too, once no node of an older version runs, and return all of them."""
        return await self._migrate(Deploy.AFTER)

    def _step(self, migration: Migration, *, new: bool) -> Step:
        sql = SQL.of(self._names)
        parts = ["BEGIN", *([sql.make_schema_if_missing, sql.make_table] if new else [])]
        parts += [self._names.filled(migration.script).strip().removesuffix(";")]
        script = ";\n\n".join([*parts, _recorded(sql.record, migration), "COMMIT"]) + ";\n"
        return Step(migration.version, migration.name, script, migration.after)

    async def _migrate(self, until: Deploy) -> Sequence[Migration]:
        async with self._lender.lend() as connection:
            return await migrate(connection, self._names, self._migrations, until)


def _recorded(record: str, migration: Migration) -> str:
    """The statement with its values written out. None of them has a quote in it."""
    texts = (migration.name, migration.checksum, migration.deploy)
    values = (str(migration.version), *(f"'{text}'" for text in texts))
    for number, value in enumerate(values, start=1):
        record = record.replace(f"${number}", value)
    return record
