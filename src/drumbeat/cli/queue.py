"""`drumbeat queue`: what waits in each queue, and which are paused."""

from __future__ import annotations

from collections.abc import Mapping

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.reasons import reasoned
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import paused_shape, queue_shape
from drumbeat.cli.tables import note, table
from drumbeat.model.job import Status
from drumbeat.model.queue import QueueRecord, Queues
from drumbeat.rules.moments import Moments, short

Counts = Mapping[str, Mapping[Status, int]]


@click.group("queue", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show how many jobs of each queue stand where; list, pause and resume queues.

    \b
    Example:
      drumbeat queue
      drumbeat queue pause mail --reason "the mail server is down"
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    counts = session.ask(lambda app: app.jobs.counts())
    data = {
        queue: {status.value: by_status.get(status, 0) for status in Status}
        for queue, by_status in sorted(counts.items())
    }
    session.output.show(data, lambda: _depths(counts))


@command.command("list")
@click.pass_obj
def list_queues(session: Session) -> None:
    """List the queues: what waits, for how long, what is paused, and what ever came of it.

    \b
    Example:
      drumbeat queue list
    """
    found = session.ask(lambda app: app.queues.list())
    data = [queue_shape(record, found.as_of) for record in found.queues]
    session.output.show(data, lambda: _queues(session, found))


@command.command()
@click.argument("name")
@click.option("--reason", default="", metavar="TEXT", help="Why, for whoever asks.")
@click.pass_obj
def pause(session: Session, name: str, reason: str) -> None:
    """Let no job of a queue start any more. Those that run go on, and new ones wait.

    \b
    Example:
      drumbeat queue pause mail --reason "the mail server is down"
    """
    paused = session.ask(lambda app: app.queues.pause(name, reason))
    session.output.show(
        {"queue": name, "paused": paused_shape(paused)}, lambda: f"The queue {name} is paused."
    )


@command.command()
@click.argument("name")
@reasoned
@click.pass_obj
def resume(session: Session, name: str) -> None:
    """Let jobs of a paused queue start again.

    \b
    Example:
      drumbeat queue resume mail
    """
    before = session.ask(lambda app: app.queues.resume(name))
    if before is None:
        raise Problem(f"the queue {name!r} is not paused", Exit.CONFLICT)
    session.output.show(
        {"queue": name, "paused": None, "before": paused_shape(before)},
        lambda: f"The queue {name} goes on.",
    )


def _depths(counts: Counts) -> RenderableType:
    if not counts:
        return note("There are no jobs.")
    rows = (
        (queue, *(by_status.get(status) for status in Status))
        for queue, by_status in sorted(counts.items())
    )
    return table(("queue", *(f">{status}" for status in Status)), rows)


def _queues(session: Session, found: Queues) -> RenderableType:
    if not found.queues:
        return note("There are no queues.")
    moments = Moments(found.as_of, session.output.zone)
    waits = (Status.PENDING, Status.QUEUED, Status.RUNNING)
    rows = (
        (
            record.name,
            *(record.counts.get(status) for status in waits),
            _age(record, found),
            *(record.totals.get(status) for status in Status if status not in waits),
            record.paused and f"{moments.distance(record.paused.since)}: {record.paused.reason}",
        )
        for record in found.queues
    )
    titles = (*(f">{status}" for status in waits), ">oldest", ">completed", ">failed")
    return table(("queue", *titles, ">cancelled", "+paused"), rows)


def _age(record: QueueRecord, found: Queues) -> str | None:
    return None if record.oldest_at is None else short(found.as_of - record.oldest_at)
