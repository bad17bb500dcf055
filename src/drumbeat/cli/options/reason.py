"""The option `--reason`, for the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from drumbeat.cli.session.session import Session

F = TypeVar("F", bound=Callable[..., Any])


def reason_option(function: F) -> F:
    """Give a command the option `--reason`, which becomes the reason of the session."""
    option = click.option(
        "--reason",
        metavar="TEXT",
        expose_value=False,
        callback=_note,
        help="Why, for the audit log.",
    )
    return option(function)


def _note(context: click.Context, _: click.Parameter, reason: str | None) -> None:
    if reason:
        context.ensure_object(Session).reason = reason
