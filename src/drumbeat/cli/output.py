"""Output: data on standard output, talk on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING

import click

from drumbeat.model.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

UNBOUNDED = 400
"""Columns of what no terminal shows: a pipe gets whole lines, not a terminal's width of them."""


class Form(StrEnum):
    """How data is written."""

    TABLE = "table"
    JSON = "json"


@dataclass(slots=True)
class Output:
    """Where a command writes, and how."""

    form: Form = Form.TABLE
    zone: tzinfo | None = None
    """The zone of the times that people are shown; None: that of this machine."""
    clock: Callable[[], datetime] | None = field(default=None)

    @property
    def now(self) -> datetime:
        """The time that distances such as "in 5m" are counted from."""
        if self.clock is not None:
            return self.clock()
        from drumbeat.engine.runtime import SystemClock  # noqa: PLC0415 - when it is needed

        return SystemClock().now()

    def show(self, data: object, table: Callable[[], RenderableType]) -> None:
        """Data: as JSON for programs, else as a table for people."""
        if self.form is Form.JSON:
            document = json.dumps(data, indent=2, ensure_ascii=False, default=_plain)
            click.echo(visible_json(document))
        else:
            from drumbeat.cli.shown import Shown  # noqa: PLC0415 - it needs rich, as the console

            console = self.console()
            with console.capture() as captured:
                console.print(Shown(table()))
            click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))

    def say(self, sentence: str) -> None:
        """Talk: what happens, for whoever looks on."""
        click.echo(visible(sentence), err=True)

    def console(self) -> Console:
        """Standard output, for people."""
        from rich.console import Console  # noqa: PLC0415 - only those who see a table wait for it

        width = None if sys.stdout.isatty() else _columns()
        return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)

    def talk(self) -> Console:
        """Standard error, for progress bars and the like."""
        from rich.console import Console  # noqa: PLC0415 - as above

        return Console(file=sys.stderr, highlight=False)

    @contextmanager
    def working(self, sentence: str) -> Generator[None]:
        """Show on a terminal that something takes its time."""
        if not sys.stderr.isatty():
            yield
            return
        with self.talk().status(sentence):
            yield


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isdecimal() and int(text) > 0 else UNBOUNDED


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, bytes):
        return json.loads(value)
    if isinstance(value, frozenset | set | tuple):
        return sorted(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of whatever it is
    raise TypeError(f"a {type(value).__name__} has no place in JSON")
