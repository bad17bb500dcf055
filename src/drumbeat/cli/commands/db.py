"""`drumbeat db`: the migrations of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import click

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import switch
from drumbeat.cli.output.tables import note, table
from drumbeat.cli.session.session import Session
from drumbeat.model.text import counted
from drumbeat.ports.migrations import Migrating, Migrations, StagedMigrations, Step, waits

T = TypeVar("T")

AFTER = switch("--after", "Also those that must wait until no older node runs.")


@click.group("db", cls=Group)
def command() -> None:
    """Show and apply the migrations of the store.

    Example:
      drumbeat --store sqlite:///drumbeat.db db status
    """


@command.verb("status")
def status(session: Session) -> None:
    """Show which migrations were applied.

    The exit code is 1 if one was not. Those that wait for `migrate --after` do not count.

    Example:
      drumbeat db status
    """

    async def ask(migrations: Migrations) -> list[tuple[Step, bool]]:
        applied = await migrations.applied()
        return [(step, step.version in applied) for step in migrations.known()]

    steps = _ask(session, ask)
    data = [
        {"version": step.version, "name": step.name, "applied": applied} for step, applied in steps
    ]
    rows = [(step.version, step.name, _state(step, applied=done)) for step, done in steps]
    session.output.show(data, table((">version", "name", "state"), rows))
    missing = sum(not applied and not waits(step) for step, applied in steps)
    if missing:
        raise Problem(f"{counted(missing, 'migration')} not applied; `drumbeat db migrate` does it")


def _state(step: Step, *, applied: bool) -> str:
    if applied:
        return "applied"
    return "waits for --after" if waits(step) else "pending"


@command.verb("migrate", AFTER)
def migrate(session: Session, *, after: bool) -> None:
    """Apply the migrations that were not applied yet.

    Nodes of an older version can keep running. Migrations that would break them need --after.

    Example:
      drumbeat db migrate
    """

    async def ask(migrations: Migrations) -> Sequence[Step]:
        if after and isinstance(migrations, StagedMigrations):
            return await migrations.apply_after()
        return await migrations.apply()

    with session.output.working("Migrating"):
        steps = _ask(session, ask)

    data = [{"version": step.version, "name": step.name} for step in steps]
    rows = ((step.version, step.name) for step in steps)
    text = table((">version", "applied"), rows) if steps else note("The schema is up to date.")
    session.output.show(data, text)


@command.verb("sql", AFTER, switch("--all also_applied", "Also migrations that were applied."))
def sql(session: Session, *, after: bool, also_applied: bool) -> None:
    """Print the SQL that `migrate` would run.

    Migrations that would break nodes of an older version are left out without --after.

    Example:
      drumbeat db sql
      drumbeat db sql --all --after > schema.sql
    """

    async def ask(migrations: Migrations) -> list[Step]:
        applied = () if also_applied else await migrations.applied()
        return [
            step
            for step in migrations.known()
            if step.version not in applied and (after or not waits(step))
        ]

    steps = _ask(session, ask)
    data = [{"version": step.version, "name": step.name, "sql": step.script} for step in steps]
    scripts = [f"-- {step.version:04} {step.name}\n{step.script.strip()}\n" for step in steps]
    if session.output.form == "json":
        session.output.show(data, "")
    else:
        click.echo("\n".join(scripts) or "-- The schema is up to date.")


def _ask(session: Session, question: Callable[[Migrations], Awaitable[T]]) -> T:
    """Ask the migrations of the store without opening it, since opening may migrate it."""
    store = session.app().store
    if not isinstance(store, Migrating):
        raise Problem(
            f"{type(store).__name__} has no migrations: there is nothing to do", Exit.USAGE
        )

    async def ask() -> T:
        try:
            return await question(store.migrations)
        finally:
            await store.close()

    return asyncio.run(ask())
