"""The verbs of `drumbeat schedule` that change an existing schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click
from rich.console import RenderableType

from drumbeat.cli.command import Command, operations
from drumbeat.cli.commands.schedule.view import report
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.arguments import read_arguments
from drumbeat.cli.options.reason import reason_option
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.output.tables import below, note, table
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.text import counted
from drumbeat.rules.human_time import Moments
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import BackfilledView

NAME = click.argument("name")
NEXT, NOW = "next", "now"
FIRED, WOULD_FIRE = "fired", "would fire"


@click.command(cls=Command)
@NAME
@reason_option
@operations("schedules.pause")
@click.pass_obj
def pause(session: Session, name: str) -> None:
    """Pause the schedule NAME.

    Its ticks are recorded as skipped until it is resumed.

    \b
    Example:
      drumbeat schedule pause nightly --reason "the disk is full"
    """
    paused = session.ask(lambda fleet: fleet.schedules.pause(name, session.reason))
    report(session, paused, f"schedule {name} was paused")


@click.command(cls=Command)
@NAME
@reason_option
@operations("schedules.resume")
@click.pass_obj
def resume(session: Session, name: str) -> None:
    """Let the schedule NAME fire again, from now on.

    \b
    Example:
      drumbeat schedule resume nightly
    """
    resumed = session.ask(lambda fleet: fleet.schedules.resume(name, session.reason))
    report(session, resumed, f"schedule {name} was resumed")


@click.command("hand-back", cls=Command)
@NAME
@reason_option
@operations("schedules.hand_back")
@click.pass_obj
def hand_back(session: Session, name: str) -> None:
    """Let code define the schedule NAME again.

    A schedule that code declares and that a person has edited stays as edited, until this command.
    The next declaration, at the start of a node, then replaces its definition.

    \b
    Example:
      drumbeat schedule hand-back nightly
    """
    handed = session.ask(lambda fleet: fleet.schedules.hand_back(name, session.reason))
    report(session, handed, f"schedule {name} was handed back to the code")


@click.command(cls=Command)
@NAME
@click.argument("tick", default=NEXT)
@click.option("--undo", is_flag=True, help="Undo the skip of a tick.")
@reason_option
@operations("schedules.skip", "schedules.unskip")
@click.pass_obj
def skip(session: Session, name: str, tick: str, *, undo: bool) -> None:
    """Skip one tick of the schedule NAME.

    TICK is the time of a future tick; by default it is the next one.

    \b
    Example:
      drumbeat schedule skip nightly
      drumbeat schedule skip nightly "2026-12-25 02:00"
    """
    moments = session.output.moments

    async def chosen(fleet: Fleet) -> datetime:
        if tick != NEXT:
            return moments.read(tick)
        if undo:
            return min((await fleet.schedules.get(name)).skips, default=moments.now)
        coming = (await fleet.schedules.preview(name, 1)).next
        if not coming:
            raise Problem(f"schedule {name!r} has no tick to come", Exit.CONFLICT)
        return coming[0]

    async def ask(fleet: Fleet) -> tuple[ScheduleView, datetime]:
        at = await chosen(fleet)
        change = fleet.schedules.unskip if undo else fleet.schedules.skip
        return await change(name, at, session.reason), at

    changed, at = session.ask(ask)
    verb = "no longer skips" if undo else "skips"
    report(session, changed, f"schedule {name} {verb} its tick of {moments.stamped(at)}")


@click.command(cls=Command)
@NAME
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="Replaces its own arguments."
)
@reason_option
@operations("schedules.trigger")
@click.pass_obj
def trigger(session: Session, name: str, arguments: Sequence[str]) -> None:
    """Submit the task of the schedule NAME now.

    \b
    Example:
      drumbeat schedule trigger nightly
    """
    named = read_arguments(arguments) or None
    job = session.ask(lambda fleet: fleet.schedules.trigger(name, named, session.reason))
    session.output.show(
        as_json(job), lambda: f"schedule {name} was triggered as job {job.id}, {job.status}"
    )


@click.command(cls=Command)
@NAME
@click.option("--from", "start", required=True, metavar="TIME", help="The first tick.")
@click.option("--to", "end", default=NOW, show_default=True, metavar="TIME", help="The last tick.")
@click.option("--dry-run", is_flag=True, help="Only list the ticks that would fire.")
@reason_option
@operations("schedules.backfill")
@click.pass_obj
def backfill(session: Session, name: str, start: str, end: str, *, dry_run: bool) -> None:
    """Fire past ticks that did not fire.

    \b
    Example:
      drumbeat schedule backfill nightly --from -7d --dry-run
      drumbeat schedule backfill nightly --from 2026-07-01 --to 2026-07-08
    """
    moments = session.output.moments
    first = moments.read(start)
    last = None if end == NOW else moments.read(end)
    with session.output.working(f"Backfilling {name}"):
        found = session.ask(
            lambda fleet: fleet.schedules.backfill(
                name, first, last, dry_run=dry_run, reason=session.reason
            )
        )
    session.output.show(as_json(found), lambda: _backfilled(moments, found, dry_run=dry_run))


def _backfilled(
    moments: Moments, ticks: Sequence[BackfilledView], *, dry_run: bool
) -> RenderableType:
    outcome, words = (WOULD_FIRE, WOULD_FIRE) if dry_run else (FIRED, "fired now")
    count = sum(tick.outcome == outcome for tick in ticks)
    rows = ((moments.show(tick.tick_at), tick.outcome, tick.job_id) for tick in ticks)
    return below(
        table((f"tick ({moments.zone_name})", "outcome", ">job"), rows),
        note(f"{counted(len(ticks), 'tick')}, {count} {words}"),
    )


@click.command(cls=Command)
@NAME
@reason_option
@operations("schedules.remove")
@click.pass_obj
def delete(session: Session, name: str) -> None:
    """Delete the schedule NAME.

    Its ledger stays, and its jobs still run. A schedule that code declares comes back at the next
    start of a node; pause it instead.

    \b
    Example:
      drumbeat schedule delete nightly
    """

    async def ask(fleet: Fleet) -> ScheduleView:
        schedule = await fleet.schedules.get(name)
        await fleet.schedules.remove(name, session.reason)
        return schedule

    removed = session.ask(ask)
    session.output.show({"name": name, "deleted": True}, lambda: f"schedule {name} was deleted")
    if removed.declared:
        session.output.say(
            "Code declares it, so it comes back at the next start of a node. To stop it for good, "
            "remove the declaration, or pause it."
        )


CHANGES = (pause, resume, hand_back, skip, trigger, backfill, delete)
