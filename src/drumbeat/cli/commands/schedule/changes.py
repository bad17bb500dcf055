"""The verbs of `drumbeat schedule` that change an existing schedule."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeAlias

import click
from rich.console import RenderableType

from drumbeat.cli.command import make_command, together
from drumbeat.cli.commands.schedule.view import report
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.arguments import read_arguments
from drumbeat.cli.options.option import NAME, REASON, switch, text
from drumbeat.cli.output.tables import below, note, table
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.fleet.schedules import FleetSchedules
from drumbeat.model.text import counted
from drumbeat.rules.human_time import Moments
from drumbeat.wire.schedule import ScheduleView
from drumbeat.wire.tick import BackfilledView

NEXT, NOW = "next", "now"
FIRED, WOULD_FIRE = "fired", "would fire"


ChangeTagged: TypeAlias = Callable[
    [FleetSchedules], Callable[[str, str], Awaitable[Sequence[ScheduleView]]]
]

NAME_OR_TAG = together(
    click.argument("name", required=False),
    text("--tag", "TAG", "All schedules with this tag, instead of one by its name."),
)


def _of_tag(
    session: Session, name: str | None, tag: str | None, change: ChangeTagged, verb: str
) -> bool:
    """Whether a tag is given, after the schedules with it were changed."""
    if (name is None) == (tag is None):
        raise click.UsageError("name a schedule, or give --tag, and not both")
    if tag is None:
        return False

    async def ask(fleet: Fleet) -> list[str]:
        names: list[str] = []
        while changed := await change(fleet.schedules)(tag, session.reason):
            names += [each.name for each in changed]
        return names

    names = session.ask(ask)
    count = counted(len(names), "schedule")
    session.output.show(names, below(f"{count} with the tag {tag} {verb}", *names))
    return True


@make_command("pause", NAME_OR_TAG, REASON, uses="schedules.pause schedules.pause_tagged")
def pause(session: Session, name: str, tag: str | None) -> None:
    """Pause the schedule NAME, or all with a tag.

    Its ticks are recorded as skipped until it is resumed.

    Example:
      drumbeat schedule pause nightly --reason "the disk is full"
      drumbeat schedule pause --tag billing --reason "the bank is closed"
    """
    if _of_tag(session, name, tag, lambda schedules: schedules.pause_tagged, "paused"):
        return
    paused = session.ask(lambda fleet: fleet.schedules.pause(name, session.reason))
    report(session, paused, f"schedule {name} was paused")


@make_command("resume", NAME_OR_TAG, REASON, uses="schedules.resume schedules.resume_tagged")
def resume(session: Session, name: str, tag: str | None) -> None:
    """Let the schedule NAME, or all with a tag, fire again, from now on.

    Example:
      drumbeat schedule resume nightly
      drumbeat schedule resume --tag billing
    """
    if _of_tag(session, name, tag, lambda schedules: schedules.resume_tagged, "resumed"):
        return
    resumed = session.ask(lambda fleet: fleet.schedules.resume(name, session.reason))
    report(session, resumed, f"schedule {name} was resumed")


@make_command("hand-back", NAME, REASON, uses="schedules.hand_back")
def hand_back(session: Session, name: str) -> None:
    """Let code define the schedule NAME again.

    A schedule that code declares and that a person has edited stays as edited, until this command.
    The next declaration, at the start of a node, then replaces its definition.

    Example:
      drumbeat schedule hand-back nightly
    """
    handed = session.ask(lambda fleet: fleet.schedules.hand_back(name, session.reason))
    report(session, handed, f"schedule {name} was handed back to the code")


@make_command(
    "skip",
    NAME,
    click.argument("tick", default=NEXT),
    switch("--undo", "Undo the skip of a tick."),
    REASON,
    uses="schedules.skip schedules.unskip",
)
def skip(session: Session, name: str, tick: str, *, undo: bool) -> None:
    """Skip one tick of the schedule NAME.

    TICK is the time of a future tick; by default it is the next one.

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


@make_command(
    "trigger",
    NAME,
    text("--arg arguments", "NAME=VALUE", "Replaces its own arguments.", multiple=True),
    REASON,
    uses="schedules.trigger",
)
def trigger(session: Session, name: str, arguments: Sequence[str]) -> None:
    """Submit the task of the schedule NAME now.

    Example:
      drumbeat schedule trigger nightly
    """
    named = read_arguments(arguments) or None
    job = session.ask(lambda fleet: fleet.schedules.trigger(name, named, session.reason))
    session.output.show(job, f"schedule {name} was triggered as job {job.id}, {job.status}")


@make_command(
    "backfill",
    NAME,
    text("--from start", "TIME", "The first tick.", required=True),
    text("--to end", "TIME", "The last tick.", default=NOW),
    switch("--dry-run", "Only list the ticks that would fire."),
    REASON,
    uses="schedules.backfill",
)
def backfill(session: Session, name: str, start: str, end: str, *, dry_run: bool) -> None:
    """Fire past ticks that did not fire.

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
    session.output.show(found, _backfilled(moments, found, dry_run=dry_run))


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


@make_command(
    "delete",
    NAME_OR_TAG,
    switch("--yes confirmed", "Delete all with the tag without asking."),
    REASON,
    uses="schedules.remove schedules.remove_tagged",
)
def delete(session: Session, name: str, tag: str | None, *, confirmed: bool) -> None:
    """Delete the schedule NAME, or all with a tag.

    Its ledger stays, and its jobs still run. A schedule that code declares comes back at the next
    start of a node; pause it instead.

    Example:
      drumbeat schedule delete nightly
      drumbeat schedule delete --tag billing --yes
    """
    if tag is not None and not name and not confirmed:
        click.confirm(f"Delete all schedules with the tag {tag}?", abort=True, err=True)
    if _of_tag(session, name, tag, lambda schedules: schedules.remove_tagged, "deleted"):
        return

    async def ask(fleet: Fleet) -> ScheduleView:
        schedule = await fleet.schedules.get(name)
        await fleet.schedules.remove(name, session.reason)
        return schedule

    removed = session.ask(ask)
    session.output.show({"name": name, "deleted": True}, f"schedule {name} was deleted")
    if removed.declared:
        session.output.say(
            "Code declares it, so it comes back at the next start of a node. To stop it for good, "
            "remove the declaration, or pause it."
        )


CHANGES = (pause, resume, hand_back, skip, trigger, backfill, delete)
