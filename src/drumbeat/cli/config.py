"""`drumbeat config`: every setting, and where its value came from."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.session import Session
from drumbeat.cli.tables import table
from drumbeat.config import (
    SETTING,
    SETTINGS,
    Origin,
    Sources,
    Survey,
    given_on_command_line,
    shown,
)


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

    Secrets are masked. With --app these are the settings of that app, else those that an app
    without settings in code would have here. Bad settings are named one by one, and the exit code
    is 2.

    \b
    Example:
      drumbeat config show --changed
      drumbeat --app shop.jobs:app config show -o json
    """
    values, origins, faults = _settings(session)
    rows = [
        (each.name, shown(each, values[each.name]), origins[each.name], each.variables[0])
        for each in SETTINGS
        if not changed or str(origins[each.name]) != "default"
    ]
    data = {
        name: {"value": _plain(name, values[name]), "origin": str(origin), "variable": variable}
        for name, _, origin, variable in rows
    }
    session.output.show(data, lambda: _table(rows))
    if faults:
        raise Problem("\n".join(faults), Exit.USAGE)


def _settings(session: Session) -> tuple[dict[str, object], dict[str, Origin], Sequence[str]]:
    if session.app_path is not None:
        config = session.app().settings
        values = {each.name: getattr(config, each.name) for each in SETTINGS}
        return values, dict(config.origins), ()
    with given_on_command_line(session.settings):
        survey = Survey.of(Sources.of_this_process({}))
    for sentence in survey.unknown:
        session.output.say(f"Note: {sentence}")
    return survey.values, survey.origins, survey.faults


def _plain(name: str, value: object) -> object:
    return value if isinstance(value, int | None) else shown(SETTING[name], value)


def _table(rows: Sequence[tuple[str, str, Origin, str]]) -> RenderableType:
    return table(
        ("setting", "+value", "from"),
        ((name, value, origin) for name, value, origin, _ in rows),
    )
