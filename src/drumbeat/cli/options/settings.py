"""Settings as options of a command, made from the table of all settings."""

from __future__ import annotations

from collections.abc import Mapping

import click

from drumbeat.cli.command import NAMESPACE, STORE, Callback, Part, together
from drumbeat.cli.options.option import text
from drumbeat.config import SETTINGS
from drumbeat.config.kinds import Boolean
from drumbeat.config.setting import Setting

ON = "true"
USUAL = ("concurrency", "queues", "grace", "instance_id", "log_level", "log_format")
"""Those that the help shows first."""


def setting_options(function: Callback) -> Callback:
    """Give a command an option for each setting; it receives them by name, None if not given."""
    listed = [each for each in SETTINGS if each.option and each.name not in (STORE, NAMESPACE)]
    listed.sort(key=lambda each: USUAL.index(each.name) if each.name in USUAL else len(USUAL))
    return together(*map(_option, listed))(function)


def _option(each: Setting) -> Part:
    meaning, flag = each.row.meaning, str(each.option)
    if _is_switch(each):
        meaning = _sentence(meaning.removeprefix(f"{ON}: "))
        return click.option(flag, each.name, flag_value=ON, help=meaning)
    return text(f"{flag} {each.name}", each.row.kind.placeholder, _sentence(meaning))


def _sentence(meaning: str) -> str:
    return f"{meaning[:1].upper()}{meaning[1:]}."


def _is_switch(each: Setting) -> bool:
    """Whether its option alone says it: it is off by default, and there is only on."""
    return isinstance(each.row.kind, Boolean) and each.default is False


def given(settings: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value is not None}


def as_options(settings: Mapping[str, str]) -> list[str]:
    """Settings as the arguments of another process."""
    named = {each.name: each for each in SETTINGS}
    return [part for name, value in settings.items() for part in _as_option(named[name], value)]


def _as_option(each: Setting, value: str) -> tuple[str, ...]:
    return (str(each.option),) if _is_switch(each) else (str(each.option), value)
