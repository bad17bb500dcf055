"""Reasons: why a person changes something, for the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from drumbeat.cli.session import Session

F = TypeVar("F", bound=Callable[..., Any])


def reasoned(function: F) -> F:
    """Give a command the option `--reason`, which the audit log keeps."""
    option = click.option(
        "--reason",
        metavar="TEXT",
        expose_value=False,
        callback=_note,
        help="Why, for the audit log.",
    )
    return option(function)


def reason_given() -> str:
    """What the option says; empty if it is not given, or if no command runs."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return "" if session is None else session.reason


def _note(context: click.Context, _: click.Parameter, reason: str | None) -> None:
    if reason:
        context.ensure_object(Session).reason = reason
