"""The schema of a namespace, as nodes open it and as `drumbeat db` shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from drumbeat.backends.postgres.connection.client import Connection
from drumbeat.backends.postgres.connection.statements import Names
from drumbeat.backends.postgres.schema.function import Function, known_functions
from drumbeat.backends.postgres.schema.migration import Deploy, Migration, known_migrations
from drumbeat.backends.postgres.schema.upgrade import SQL, Upgrade, recorded, refusal

FUNCTIONS = 9999
"""The number of the step that installs functions, which comes after all migrations."""


@dataclass(frozen=True, slots=True)
class Step:
    """A migration, or the installation of all functions, as a person would run it by hand."""

    version: int
    name: str
    script: str
    """One transaction, which also records that it was applied."""
    after: bool
    """Whether it waits until the last node of an older version has stopped."""


class Schema:
    """The steps of this version of Drumbeat, and which of them were applied."""

    def __init__(
        self,
        lend: Callable[[], AbstractAsyncContextManager[Connection]],
        names: Names,
        migrations: Sequence[Migration] | None = None,
        functions: Sequence[Function] | None = None,
    ) -> None:
        self._lend = lend
        self._names = names
        self._upgrade = Upgrade(
            names,
            known_migrations() if migrations is None else tuple(migrations),
            known_functions() if functions is None else tuple(functions),
        )

    def known(self) -> Sequence[Step]:
        """The steps of this version of Drumbeat, in order."""
        steps = [self._migration_step(each) for each in self._upgrade.migrations]
        return [*steps, self._functions_step()] if self._upgrade.functions else steps

    async def applied(self) -> Collection[int]:
        """Read the numbers of the steps that were applied, without changing anything."""
        async with self._lend() as connection:
            found = await self._upgrade.found(connection)
        steps = set(found.migrations)
        if self._upgrade.functions and not self._upgrade.pending(found, Deploy.AFTER).functions:
            steps.add(FUNCTIONS)
        return steps

    async def apply(self) -> Sequence[Step]:
        """Apply the steps that older nodes can work with, all or none, and return them."""
        return await self._apply(Deploy.BEFORE)

    async def apply_after(self) -> Sequence[Step]:
        """Apply the others too, once no node of an older version runs, and return all of them."""
        return await self._apply(Deploy.AFTER)

    async def _apply(self, until: Deploy) -> Sequence[Step]:
        async with self._lend() as connection:
            applied = await self._upgrade.apply(connection, until)
        steps = [self._migration_step(each) for each in applied.migrations]
        return [*steps, self._functions_step()] if applied.functions else steps

    def _migration_step(self, migration: Migration) -> Step:
        sql = SQL.of(self._names)
        first = migration.version == self._upgrade.migrations[0].version
        script = _transaction(
            *((sql.create_schema_if_missing, sql.create_bookkeeping) if first else ()),
            self._names.filled(migration.script),
            recorded(self._names, migration),
        )
        return Step(migration.version, migration.name, script, migration.after)

    def _functions_step(self) -> Step:
        parts = ["SET LOCAL check_function_bodies = off"]
        for function in self._upgrade.functions:
            parts.append(refusal(self._names, function))
            parts.append(self._names.filled(function.script))
            parts.append(recorded(self._names, function))
        return Step(FUNCTIONS, "functions", _transaction(*parts), after=False)


def _transaction(*statements: str) -> str:
    return ";\n\n".join(
        ["BEGIN", *(each.strip().removesuffix(";") for each in statements), "COMMIT;\n"]
    )
