"""`drumbeat queue`: how many jobs of each queue stand where."""

from __future__ import annotations

from collections.abc import Mapping

import click
from rich.console import RenderableType

from drumbeat.cli.command import Command
from drumbeat.cli.session import Session
from drumbeat.cli.tables import note, table
from drumbeat.model.job import Status

Counts = Mapping[str, Mapping[Status, int]]


@click.command("queue", cls=Command)
@click.pass_obj
def command(session: Session) -> None:
    """Show how many jobs of each queue stand where.

    \b
    Example:
      drumbeat queue
      drumbeat queue -o json
    """
    counts = session.ask(lambda app: app.jobs.counts())
    data = {
        queue: {status.value: by_status.get(status, 0) for status in Status}
        for queue, by_status in sorted(counts.items())
    }
    session.output.show(data, lambda: _depths(counts))


def _depths(counts: Counts) -> RenderableType:
    if not counts:
        return note("There are no jobs.")
    rows = (
        (queue, *(by_status.get(status) for status in Status))
        for queue, by_status in sorted(counts.items())
    )
    return table(("queue", *(f">{status}" for status in Status)), rows)
