"""`drumbeat config`: every setting, and where its value came from."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.session import Session
from drumbeat.cli.surveying import Row, survey
from drumbeat.cli.tables import table

DEFAULT = "default"


@click.group("config", cls=Group)
def command() -> None:
    """Show every setting and where its value came from.

    \b
    Example:
      drumbeat config show
    """


@command.command()
@click.option("--changed", is_flag=True, help="Only those that are not at their default.")
@click.pass_obj
def show(session: Session, *, changed: bool) -> None:
    """Show every setting and where its value came from.

    Secrets are masked. With --app these are the settings of that app, with --server those of the
    server, else those that an app without settings in code would have here. Bad settings are named
    one by one, and the exit code is 2.

    \b
    Example:
      drumbeat config show --changed
      drumbeat --app shop.jobs:app config show -o json
    """
    found = survey(session)
    for sentence in found.notes:
        session.output.say(f"Note: {sentence}")
    rows = [row for row in found.rows if not changed or row.origin != DEFAULT]
    data = {
        row.name: {"value": row.value, "origin": row.origin, "variable": row.variable}
        for row in rows
    }
    session.output.show(data, lambda: _table(rows))
    if found.faults:
        raise Problem("\n".join(found.faults), Exit.USAGE)


def _table(rows: Sequence[Row]) -> RenderableType:
    return table(("setting", "+value", "from"), ((row.name, row.words, row.origin) for row in rows))
