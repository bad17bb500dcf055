"""`drumbeat queue`: what waits in each queue, and which are paused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import NAME, REASON
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import UnknownQueue
from drumbeat.model.jobs.job import Status
from drumbeat.rules.human_time import Moments, short
from drumbeat.wire.queue import PausedView, QueueView

UNFINISHED = (Status.PENDING, Status.QUEUED, Status.RUNNING)


@click.group("queue", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show the number of jobs by queue and status; list, pause and resume queues.

    Example:
      drumbeat queue
      drumbeat queue pause mail --reason "the mail server is down"
    """
    if ctx.invoked_subcommand is None:
        session = ctx.ensure_object(Session)
        found = session.ask(lambda fleet: fleet.queues.list())
        counts = {queue.name: queue.counts for queue in found if any(queue.counts.values())}
        session.output.show(counts, _counts(counts))


@command.verb("list", uses="queues.list")
def list_queues(session: Session) -> None:
    """List the queues: their unfinished jobs, the age of the oldest one, and all ended jobs.

    Example:
      drumbeat queue list
    """
    found = session.ask(lambda fleet: fleet.queues.list())
    session.output.show(found, _queues(session.output.moments, found))


@command.verb("show", NAME, uses="queues.get")
def show(session: Session, name: str) -> None:
    """Show the queue NAME.

    Example:
      drumbeat queue show mail
    """
    found = session.ask(lambda fleet: fleet.queues.get(name))
    session.output.show(found, _queues(session.output.moments, [found]))


@command.verb("pause", NAME, REASON, uses="queues.pause")
def pause(session: Session, name: str) -> None:
    """Pause a queue: its running jobs go on, and no other job starts.

    Example:
      drumbeat queue pause mail --reason "the mail server is down"
    """
    found = session.ask_or_create(lambda fleet: fleet.queues.pause(name, session.reason))
    session.output.show({"queue": name, "paused": found.paused}, f"The queue {name} is paused.")


@command.verb("resume", NAME, REASON, uses="queues.resume")
def resume(session: Session, name: str) -> None:
    """Let jobs of a paused queue start again.

    Example:
      drumbeat queue resume mail
    """

    async def ask(fleet: Fleet) -> PausedView:
        before = await _paused(fleet, name)
        if before is None:
            raise Problem(f"the queue {name!r} is not paused", Exit.CONFLICT)
        await fleet.queues.resume(name, session.reason)
        return before

    before = session.ask(ask)
    data = {"queue": name, "paused": None, "before": before}
    session.output.show(data, f"The queue {name} is resumed.")


async def _paused(fleet: Fleet, name: str) -> PausedView | None:
    try:
        return (await fleet.queues.get(name)).paused
    except UnknownQueue:
        return None


def _counts(counts: dict[str, dict[Status, int]]) -> RenderableType:
    rows = (
        (queue, *(by_status[status] or None for status in Status))
        for queue, by_status in sorted(counts.items())
    )
    return table(("queue", *(f">{status}" for status in Status)), rows, "There are no jobs.")


def _queues(moments: Moments, queues: Sequence[QueueView]) -> RenderableType:
    rows = (
        (
            queue.name,
            *(queue.counts[status] or None for status in UNFINISHED),
            _age(queue),
            *(queue.totals.get(status) or None for status in Status if status not in UNFINISHED),
            queue.paused and f"{moments.distance(queue.paused.since)}: {queue.paused.reason}",
        )
        for queue in queues
    )
    titles = (*(f">{status}" for status in UNFINISHED), ">oldest", ">completed", ">failed")
    return table(("queue", *titles, ">cancelled", "+paused"), rows, "There are no queues.")


def _age(queue: QueueView) -> str | None:
    age = queue.oldest_age_seconds
    return None if age is None else short(timedelta(seconds=age))
