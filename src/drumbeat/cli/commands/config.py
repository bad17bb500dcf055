"""`drumbeat config`: the settings, and the values that the fleet shares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group, operations
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.reason import reason_option
from drumbeat.cli.output.json_view import as_json, compact
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.session import Session
from drumbeat.cli.session.settings_report import settings_report
from drumbeat.config import SETTING, shown
from drumbeat.wire.entry import SettingView

DEFAULT = "default"
KEY = click.argument("key")
REVISION = click.option(
    "--revision",
    type=click.IntRange(0),
    help="Only if the value is at this revision; 0: only if there is none.",
)


@click.group("config", cls=Group)
def command() -> None:
    """Show settings and their origins; read and write values that the fleet shares.

    \b
    Example:
      drumbeat config show
    """


@command.command()
@click.option("--changed", is_flag=True, help="Only those that are not at their default.")
@operations("settings")
@click.pass_obj
def show(session: Session, *, changed: bool) -> None:
    """Show every setting and where its value came from.

    Secrets are masked. With --app these are the settings of that app, with --server those of the
    server, else those of an app here that has no settings in code. Invalid settings are listed, and
    the exit code is 2.

    \b
    Example:
      drumbeat config show --changed
      drumbeat --app shop.jobs:app config show -o json
    """
    report = settings_report(session)
    for sentence in report.notes:
        session.output.say(f"Note: {sentence}")
    settings = {
        name: setting
        for name, setting in report.settings.items()
        if not changed or setting.origin != DEFAULT
    }
    session.output.show(as_json(settings), lambda: _table(settings))
    if report.faults:
        raise Problem("\n".join(report.faults), Exit.USAGE)


@command.command()
@KEY
@operations("configuration.get")
@click.pass_obj
def get(session: Session, key: str) -> None:
    """Print the value that the fleet shares under KEY, as JSON.

    \b
    Example:
      drumbeat config get colour
    """
    entry = session.ask(lambda fleet: fleet.configuration.get(key))
    session.output.show(as_json(entry), lambda: compact(entry.value))


@command.command()
@KEY
@click.argument("value")
@REVISION
@reason_option
@operations("configuration.put")
@click.pass_obj
def put(session: Session, key: str, value: str, revision: int | None) -> None:
    """Share a VALUE under KEY. A value that is not JSON is a text.

    \b
    Example:
      drumbeat config put colour blue
      drumbeat config put limits '{"mails": 5}' --revision 3
    """
    entry = session.ask(
        lambda fleet: fleet.configuration.put(
            key, _value(value), revision=revision, reason=session.reason
        )
    )
    session.output.show(as_json(entry), lambda: f"{key} is at revision {entry.revision}")


@command.command()
@KEY
@REVISION
@reason_option
@operations("configuration.delete")
@click.pass_obj
def delete(session: Session, key: str, revision: int | None) -> None:
    """Delete the value that the fleet shares under KEY.

    \b
    Example:
      drumbeat config delete colour
    """
    session.ask(
        lambda fleet: fleet.configuration.delete(key, revision=revision, reason=session.reason)
    )
    session.output.show({"key": key, "deleted": True}, lambda: f"{key} was deleted")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _table(settings: Mapping[str, SettingView]) -> RenderableType:
    rows = (
        (name, _words(name, setting.value), setting.origin) for name, setting in settings.items()
    )
    return table(("setting", "+value", "from"), rows)


def _words(name: str, value: object) -> str:
    known = SETTING.get(name)
    return str(value) if isinstance(value, str) or known is None else shown(known, value)
