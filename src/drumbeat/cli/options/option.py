"""Options of one kind each, and those that many commands share.

`flags` are the flag and, if it differs, the name of the parameter: "--from start".
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import click

from drumbeat.cli.command import Part
from drumbeat.cli.session.session import Session


def text(flags: str, shape: str, meaning: str, **more: Any) -> Part:
    """An option with a text; `shape` stands for it in the help."""
    shows = bool(more.get("default"))
    return click.option(*flags.split(), metavar=shape, help=meaning, show_default=shows, **more)


def whole(
    flags: str, meaning: str, *, least: int = 1, most: int | None = None, default: int | None = None
) -> Part:
    return text(flags, "N", meaning, type=click.IntRange(least, most), default=default)


def seconds(
    flags: str, meaning: str, *, least: float, most: float | None = None, default: float
) -> Part:
    return text(flags, "SECONDS", meaning, type=click.FloatRange(least, most), default=default)


def switch(flags: str, meaning: str, **more: Any) -> Part:
    return click.option(*flags.split(), is_flag=True, help=meaning, **more)


def choice(flags: str, kind: Iterable[StrEnum], meaning: str, **more: Any) -> Part:
    words = click.Choice([each.value for each in kind])
    shows = bool(more.get("default"))
    return click.option(*flags.split(), type=words, help=meaning, show_default=shows, **more)


def _note(context: click.Context, _: click.Parameter, reason: str | None) -> None:
    if reason:
        context.ensure_object(Session).reason = reason


NAME = click.argument("name")
REASON = text("--reason", "TEXT", "Why, for the audit log.", expose_value=False, callback=_note)
"""Becomes the reason of the session."""
