"""Settings as options of a command, made from the table of all settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from drumbeat.cli.command import NAMESPACE, STORE
from drumbeat.config import SETTINGS
from drumbeat.config.kinds import Boolean
from drumbeat.config.setting import Setting

F = TypeVar("F", bound=Callable[..., Any])

ON = "true"
USUAL = ("concurrency", "queues", "grace", "instance_id", "log_level", "log_format")
"""Those that the help shows first."""


def setting_options(function: F) -> F:
    """Give a command an option for each setting; it receives them by name, None if not given."""
    listed = [each for each in SETTINGS if each.option and each.name not in (STORE, NAMESPACE)]
    listed.sort(key=lambda each: USUAL.index(each.name) if each.name in USUAL else len(USUAL))
    for each in reversed(listed):
        meaning = _sentence(each.row.meaning)
        shape = each.row.kind.placeholder
        add = click.option(str(each.option), each.name, metavar=shape, help=meaning)
        if _is_switch(each):
            said = _sentence(each.row.meaning.removeprefix(f"{ON}: "))
            add = click.option(str(each.option), each.name, flag_value=ON, help=said)
        function = add(function)
    return function


def _sentence(meaning: str) -> str:
    return f"{meaning[:1].upper()}{meaning[1:]}."


def _is_switch(each: Setting) -> bool:
    """Whether its option alone says it: it is off by default, and there is only on."""
    return isinstance(each.row.kind, Boolean) and each.default is False


def given(settings: Mapping[str, str | None]) -> dict[str, str]:
    """Those that were given."""
    return {name: text for name, text in settings.items() if text is not None}


def as_options(settings: Mapping[str, str]) -> list[str]:
    """Settings as the arguments of another process."""
    named = {each.name: each for each in SETTINGS}
    return [part for name, text in settings.items() for part in _as_option(named[name], text)]


def _as_option(each: Setting, text: str) -> tuple[str, ...]:
    return (str(each.option),) if _is_switch(each) else (str(each.option), text)
