"""Settings as options of a command, made from the table of all settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from drumbeat.cli.command import NAMESPACE, STORE
from drumbeat.config import SETTINGS

F = TypeVar("F", bound=Callable[..., Any])

USUAL = ("concurrency", "queues", "grace", "instance_id", "log_level", "log_format")
"""Those that the help shows first."""


def setting_options(function: F) -> F:
    """Give a command an option for each setting; it receives them by name, None if not given."""
    listed = [each for each in SETTINGS if each.option and each.name not in (STORE, NAMESPACE)]
    listed.sort(key=lambda each: USUAL.index(each.name) if each.name in USUAL else len(USUAL))
    for each in reversed(listed):
        meaning = f"{each.row.meaning[:1].upper()}{each.row.meaning[1:]}."
        shape = each.row.kind.placeholder
        add = click.option(str(each.option), each.name, metavar=shape, help=meaning)
        function = add(function)
    return function


def given(settings: Mapping[str, str | None]) -> dict[str, str]:
    """Those that were given."""
    return {name: text for name, text in settings.items() if text is not None}


def as_options(settings: Mapping[str, str]) -> list[str]:
    """Settings as the arguments of another process."""
    named = {each.name: each.option for each in SETTINGS}
    return [part for name, text in settings.items() for part in (str(named[name]), text)]
