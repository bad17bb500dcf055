"""Output: data on standard output, messages on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING

import click

from drumbeat.model.visible_text import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from drumbeat.rules.human_time import Moments

UNBOUNDED = 400
"""The width of tables that no terminal shows: a pipe gets whole lines."""


class Form(StrEnum):
    """The format of data."""

    TABLE = "table"
    JSON = "json"


@dataclass(slots=True)
class Output:
    """Where a command writes, and how."""

    form: Form = Form.TABLE
    zone: tzinfo | None = None
    """The time zone of tables; None: that of this machine."""
    clock: Callable[[], datetime] | None = field(default=None)

    @property
    def now(self) -> datetime:
        """The time that distances such as "in 5m" are counted from."""
        if self.clock is not None:
            return self.clock()
        from drumbeat.engine.plumbing.runtime import SystemClock  # noqa: PLC0415 - when it is needed

        return SystemClock().now()

    @property
    def moments(self) -> Moments:
        from drumbeat.rules.human_time import Moments  # noqa: PLC0415 - the help does not need it

        return Moments(self.now, self.zone)

    def show(self, data: object, text: RenderableType) -> None:
        """Print data as JSON for programs, or the text for people."""
        if self.form is Form.JSON:
            from drumbeat.cli.output.json_view import as_json  # noqa: PLC0415 - slow to import

            click.echo(visible_json(json.dumps(as_json(data), indent=2, ensure_ascii=False)))
        else:
            from drumbeat.cli.output.tables import VisibleCharacters  # noqa: PLC0415 - slow

            console = self.console()
            with console.capture() as captured:
                console.print(VisibleCharacters(text))
            click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))

    def say(self, sentence: str) -> None:
        click.echo(visible(sentence), err=True)

    def console(self) -> Console:
        """Standard output, for tables."""
        from rich.console import Console  # noqa: PLC0415 - slow to import, and JSON does not need it

        width = None if sys.stdout.isatty() else _columns()
        return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)

    def error_console(self) -> Console:
        """Standard error, for progress bars."""
        from rich.console import Console  # noqa: PLC0415 - as above

        return Console(file=sys.stderr, highlight=False)

    @contextmanager
    def working(self, sentence: str) -> Generator[None]:
        """Show a spinner on a terminal meanwhile."""
        if not sys.stderr.isatty():
            yield
            return
        with self.error_console().status(sentence):
            yield


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isdecimal() and int(text) > 0 else UNBOUNDED
