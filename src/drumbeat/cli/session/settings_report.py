"""Every setting with its value and its origin: of a server, of an app, or without an app."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drumbeat.cli.session.server_address import server_of
from drumbeat.config import SETTINGS, LoadedSettings, Sources, given_on_command_line, shown
from drumbeat.wire.entry import SettingView

if TYPE_CHECKING:
    from drumbeat.cli.session.session import Session


@dataclass(frozen=True, slots=True)
class SettingsReport:
    """All settings by name, and what is wrong with them."""

    settings: Mapping[str, SettingView]
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()


def settings_report(session: Session) -> SettingsReport:
    """The settings of the server or the app that is named, else those of this environment."""
    if server_of(session) is not None:
        return SettingsReport(session.run(session.target(), lambda fleet: fleet.settings()))
    if session.app_path is not None:
        app = session.app()
        return SettingsReport(asyncio.run(app.fleet.settings()), notes=app.settings.notes)
    with given_on_command_line(session.settings):
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
    return SettingsReport(settings, loaded.faults, [*loaded.unknown, *loaded.notes])
