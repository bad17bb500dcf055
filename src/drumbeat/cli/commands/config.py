"""`drumbeat config`: the settings, and the values that the fleet shares."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import REASON, switch, whole
from drumbeat.cli.output.json_view import compact
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.server_address import server_of
from drumbeat.cli.session.session import Session
from drumbeat.config import (
    SETTING,
    SETTINGS,
    CommandLine,
    LoadedSettings,
    Sources,
    given_on_command_line,
    shown,
)
from drumbeat.wire.entry import SettingView

DEFAULT = "default"
KEY = click.argument("key")
REVISION = whole(
    "--revision", "Only if the value is at this revision; 0: only if there is none.", least=0
)


@click.group("config", cls=Group)
def command() -> None:
    """Show settings and their origins; read and write values that the fleet shares.

    Example:
      drumbeat config show
    """


@command.verb(
    "show", switch("--changed", "Only settings that differ from their default."), uses="settings"
)
def show(session: Session, *, changed: bool) -> None:
    """Show every setting and where its value came from.

    Secrets are masked. With --app these are the settings of that app, with --server those of the
    server, else those of an app here that has no settings in code. Invalid settings are listed, and
    the exit code is 2.

    Example:
      drumbeat config show --changed
      drumbeat --app shop.jobs:app config show -o json
    """
    report = _report(session)
    for sentence in report.notes:
        session.output.say(f"Note: {sentence}")
    settings = {
        name: setting
        for name, setting in report.settings.items()
        if not changed or setting.origin != DEFAULT
    }
    session.output.show(settings, _table(settings))
    if report.faults:
        raise Problem("\n".join(report.faults), Exit.USAGE)


@command.verb("get", KEY, uses="configuration.get")
def get(session: Session, key: str) -> None:
    """Print the value that the fleet shares under KEY, as JSON.

    Example:
      drumbeat config get colour
    """
    entry = session.ask(lambda fleet: fleet.configuration.get(key))
    session.output.show(entry, compact(entry.value))


@command.verb("put", KEY, click.argument("value"), REVISION, REASON, uses="configuration.put")
def put(session: Session, key: str, value: str, revision: int | None) -> None:
    """Share a VALUE under KEY. A value that is not JSON is a text.

    Example:
      drumbeat config put colour blue
      drumbeat config put limits '{"mails": 5}' --revision 3
    """
    entry = session.ask_or_create(
        lambda fleet: fleet.configuration.put(
            key, _value(value), revision=revision, reason=session.reason
        )
    )
    session.output.show(entry, f"{key} is at revision {entry.revision}")


@command.verb("delete", KEY, REVISION, REASON, uses="configuration.delete")
def delete(session: Session, key: str, revision: int | None) -> None:
    """Delete the value that the fleet shares under KEY.

    Example:
      drumbeat config delete colour
    """
    session.ask(
        lambda fleet: fleet.configuration.delete(key, revision=revision, reason=session.reason)
    )
    session.output.show({"key": key, "deleted": True}, f"{key} was deleted")


@dataclass(frozen=True, slots=True)
class _Report:
    """All settings by name, and what is wrong with them."""

    settings: Mapping[str, SettingView]
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()


def _report(session: Session) -> _Report:
    """The settings of the server or the app that is named, else those of this environment."""
    if server_of(session) is not None:
        return _Report(session.ask_code(lambda fleet: fleet.settings()))
    if session.app_path is not None:
        app = session.app()
        return _Report(asyncio.run(app.fleet.settings()), notes=app.settings.notes)
    with given_on_command_line(CommandLine(session.settings)):
        loaded = LoadedSettings.of(Sources.of_this_process({}))
    settings = {
        each.name: SettingView(
            value=value
            if isinstance(value := loaded.values[each.name], int | None)
            else shown(each, value),
            origin=str(loaded.origins[each.name]),
            variable=each.variables[0],
        )
        for each in SETTINGS
    }
    return _Report(settings, loaded.faults, [*loaded.unknown, *loaded.notes])


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
