"""Surveying: every setting with its value and its origin, of an app here or of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drumbeat.config import SETTING, SETTINGS, Sources, Survey, given_on_command_line, shown

if TYPE_CHECKING:
    from drumbeat.cli.session import Session
    from drumbeat.client.client import Client


@dataclass(frozen=True, slots=True)
class Row:
    """A setting as people and programs see it: secrets are masked."""

    name: str
    words: str
    """Its value, for people."""
    value: object
    """Its value, for programs."""
    origin: str
    variable: str


@dataclass(frozen=True, slots=True)
class Surveyed:
    """All settings, and what is wrong with them."""

    rows: Sequence[Row]
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()


def survey(session: Session) -> Surveyed:
    """The settings of the server that is asked, of the app that is named, or of a bare one."""
    client = session.client()
    if client is not None:
        return _of_server(client)
    if session.app_path is not None:
        config = session.app().settings
        return Surveyed(
            [
                _row(each.name, getattr(config, each.name), str(config.origins[each.name]))
                for each in SETTINGS
            ],
            notes=config.notes,
        )
    with given_on_command_line(session.settings):
        found = Survey.of(Sources.of_this_process({}))
    rows = [
        _row(each.name, found.values[each.name], str(found.origins[each.name])) for each in SETTINGS
    ]
    return Surveyed(rows, found.faults, [*found.unknown, *found.notes])


def _of_server(client: Client) -> Surveyed:
    import asyncio  # noqa: PLC0415 - the settings of an app need no loop

    async def ask() -> list[Row]:
        async with client:
            settings = await client.settings()
        return [
            Row(name, _words(name, each.value), each.value, each.origin, each.variable)
            for name, each in settings.items()
        ]

    return Surveyed(asyncio.run(ask()))


def _words(name: str, value: object) -> str:
    """The value of a server, which has masked and written out what is not plain."""
    known = SETTING.get(name)
    return str(value) if isinstance(value, str) or known is None else shown(known, value)


def _row(name: str, value: object, origin: str) -> Row:
    setting = SETTING[name]
    words = shown(setting, value)
    plain = value if isinstance(value, int | None) else words
    return Row(name, words, plain, origin, setting.variables[0])
