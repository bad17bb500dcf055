"""The verbs of `drumbeat schedule` that change something."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from drumbeat.cli.arguments import read_arguments
from drumbeat.cli.asked import Asked, Definition
from drumbeat.cli.command import Command
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.reasons import reasoned
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import job_shape, schedule_shape
from drumbeat.cli.tables import below, facts, note, table
from drumbeat.cli.triggering import trigger_options
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.job import HIGHEST_PRIORITY, Job
from drumbeat.model.plan import AlreadyFired, Backfilled, Fire
from drumbeat.model.policy import Misfire, Overlap, RunOn
from drumbeat.model.schedule import StoredSchedule
from drumbeat.model.trigger import Trigger
from drumbeat.model.wording import counted
from drumbeat.rules.moments import Moments

NAME = click.argument("name")
FIRED, WOULD_FIRE = "fired", "would fire"


def _one_of(kind: type[Misfire | Overlap | RunOn]) -> click.Choice[str]:
    return click.Choice([each.value for each in kind])


@click.command(cls=Command)
@NAME
@click.option("--task", required=True, metavar="NAME", help="The task that each tick submits.")
@trigger_options
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="An argument; may be repeated."
)
@click.option("--queue", metavar="NAME", help="The queue that its jobs wait in.")
@click.option("--priority", type=click.IntRange(0, HIGHEST_PRIORITY), help="0 to 100.")
@click.option("--misfire", type=_one_of(Misfire), help="What becomes of missed ticks.")
@click.option("--window", metavar="DURATION", help="How late a tick may still fire.")
@click.option("--overlap", type=_one_of(Overlap), help="While the last job is unfinished.")
@click.option("--jitter", metavar="DURATION", help="The job starts up to so much after its tick.")
@click.option("--start-at", metavar="TIME", help="No tick before.")
@click.option("--end-at", metavar="TIME", help="No tick after.")
@click.option("--max-runs", type=click.IntRange(1), help="How often it fires at most.")
@click.option("--run-on", type=_one_of(RunOn), help="On any worker, or on the leader.")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@click.option("--replace", "replaces", is_flag=True, help="Replace the one of that name.")
@reasoned
@click.pass_obj
def create(
    session: Session,
    /,
    name: str,
    task: str,
    trigger: Trigger,
    arguments: Sequence[str],
    description: str,
    *,
    replaces: bool,
    **options: Any,
) -> None:
    """Create the schedule NAME for a task.

    The task need not exist yet: its jobs wait for a worker that knows it.

    \b
    Example:
      drumbeat schedule create nightly --task backup --cron "0 2 * * *" --tz Europe/Paris
      drumbeat schedule create beat --task ping --every 30s --arg host=db-1
    """
    named = read_arguments(arguments)
    given = {option: value for option, value in options.items() if value is not None}
    moments = Moments(session.output.now, session.output.zone)
    for option in ("start_at", "end_at"):
        if option in given:
            given[option] = moments.read(given[option])

    definition = Definition(
        name, trigger, task, named, given, description, known=session.app_path is not None
    )

    async def ask(app: Asked) -> tuple[StoredSchedule, bool]:
        is_there = await exists(app, name)
        if is_there and not replaces:
            raise Problem(
                f"there is a schedule {name!r} already; --replace replaces it", Exit.CONFLICT
            )
        return await app.define(definition), is_there

    stored, was_there = session.ask(ask)
    _tell(session, stored, "replaced" if was_there else "created")


async def exists(app: Asked, name: str) -> bool:
    """Whether there is a schedule of that name."""
    try:
        await app.schedules.get(name)
    except UnknownSchedule:
        return False
    return True


@click.command(cls=Command)
@NAME
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who look at it later.")
@click.pass_obj
def pause(session: Session, name: str, reason: str) -> None:
    """Pause the schedule NAME.

    Its ticks are recorded as skipped until it is resumed.

    \b
    Example:
      drumbeat schedule pause nightly --reason "the disk is full"
    """
    _tell(session, session.ask(lambda app: app.schedules.pause(name, reason)), "paused")


@click.command(cls=Command)
@NAME
@reasoned
@click.pass_obj
def resume(session: Session, name: str) -> None:
    """Let the schedule NAME fire again, from now on.

    \b
    Example:
      drumbeat schedule resume nightly
    """
    _tell(session, session.ask(lambda app: app.schedules.resume(name)), "resumed")


@click.command(cls=Command)
@NAME
@click.argument("tick", default="next")
@click.option("--undo", is_flag=True, help="Let a tick that was skipped fire after all.")
@reasoned
@click.pass_obj
def skip(session: Session, name: str, tick: str, *, undo: bool) -> None:
    """Skip one tick of the schedule NAME.

    TICK is its time, still to come; without it the next is meant.

    \b
    Example:
      drumbeat schedule skip nightly
      drumbeat schedule skip nightly "2026-12-25 02:00"
    """
    moments = Moments(session.output.now, session.output.zone)

    async def ask(app: Asked) -> tuple[StoredSchedule, datetime]:
        schedules = app.schedules
        if tick != "next":
            at = moments.read(tick)
        elif undo:
            at = min((await schedules.get(name)).skips, default=moments.now)
        else:
            coming = await schedules.preview(name, 1)
            if not coming:
                raise Problem(f"schedule {name!r} has no tick to come", Exit.CONFLICT)
            (at,) = coming
        return await (schedules.unskip(name, at) if undo else schedules.skip(name, at)), at

    stored, at = session.ask(ask)
    verb = "no longer skips" if undo else "skips"
    _say(session, stored, f"schedule {name} {verb} its tick of {moments.stamped(at)}")


@click.command(cls=Command)
@NAME
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="In place of its own."
)
@reasoned
@click.pass_obj
def trigger(session: Session, name: str, arguments: Sequence[str]) -> None:
    """Submit the task of the schedule NAME now.

    Other arguments than its own need --app or --server, which know what the task takes.

    \b
    Example:
      drumbeat schedule trigger nightly
    """
    named = read_arguments(arguments) or None

    async def ask(app: Asked) -> Job:
        return await app.schedules.trigger(name, kwargs=named)

    job = session.ask(ask)
    session.output.show(
        job_shape(job, session.secrets),
        lambda: f"schedule {name} was triggered as job {job.id}, {job.status}",
    )


@click.command(cls=Command)
@NAME
@click.option("--from", "start", required=True, metavar="TIME", help="From when on.")
@click.option("--to", "end", default="now", show_default=True, metavar="TIME", help="Until when.")
@click.option("--dry-run", is_flag=True, help="Only say which would fire.")
@reasoned
@click.pass_obj
def backfill(session: Session, name: str, start: str, end: str, *, dry_run: bool) -> None:
    """Fire past ticks that did not fire.

    \b
    Example:
      drumbeat schedule backfill nightly --from -7d --dry-run
      drumbeat schedule backfill nightly --from 2026-07-01 --to 2026-07-08
    """
    moments = Moments(session.output.now, session.output.zone)

    async def ask(app: Asked) -> Sequence[Backfilled | AlreadyFired | Fire]:
        until = None if end == "now" else moments.read(end)
        return await app.backfill(name, moments.read(start), until, dry_run=dry_run)

    with session.output.working(f"Backfilling {name}"):
        found = session.ask(ask)
    rows = [(each.tick_at, *_verdict(each)) for each in found]
    data = [{"tick_at": tick, "outcome": outcome, "job_id": job} for tick, outcome, job in rows]
    done, word = (WOULD_FIRE, WOULD_FIRE) if dry_run else (FIRED, "fired now")
    count = sum(outcome == done for _, outcome, _ in rows)
    summary = f"{counted(len(rows), 'tick')}, {count} {word}"
    session.output.show(
        data,
        lambda: below(
            table(
                (f"tick ({moments.zone_name})", "outcome", ">job"),
                ((moments.show(tick), outcome, job) for tick, outcome, job in rows),
            ),
            note(summary),
        ),
    )


def _verdict(each: Backfilled | AlreadyFired | Fire) -> tuple[str, int | None]:
    match each:
        case Backfilled():
            return FIRED, each.job_id
        case AlreadyFired():
            return "had fired before", None
        case Fire():
            return WOULD_FIRE, None


@click.command(cls=Command)
@NAME
@reasoned
@click.pass_obj
def delete(session: Session, name: str) -> None:
    """Delete the schedule NAME.

    Its ledger stays, and its jobs run on. A schedule that code declares comes back at the next
    start of a node; pause it instead.

    \b
    Example:
      drumbeat schedule delete nightly
    """

    async def ask(app: Asked) -> StoredSchedule:
        stored = await app.schedules.get(name)
        await app.schedules.remove(name)
        return stored

    stored = session.ask(ask)
    session.output.show({"name": name, "deleted": True}, lambda: f"schedule {name} was deleted")
    if stored.declared:
        session.output.say(
            "Code declares it: it comes back at the next start of a node. To keep it from firing, "
            "let the code go or pause it."
        )


def next_tick(stored: StoredSchedule, moments: Moments) -> str:
    """When it fires next, as far as anybody can say."""
    if stored.paused:
        return "none while it is paused"
    skipped = ", which is skipped" if stored.next_tick in stored.skips else ""
    return f"{moments.stamped(stored.next_tick)}{skipped}"


def _tell(session: Session, stored: StoredSchedule, done: str) -> None:
    _say(session, stored, f"schedule {stored.name} was {done}")


def _say(session: Session, stored: StoredSchedule, sentence: str) -> None:
    reason = f", {stored.pause_reason}" if stored.pause_reason else ""
    moments = Moments(session.output.now, session.output.zone)
    session.output.show(
        schedule_shape(stored, session.secrets),
        lambda: below(
            sentence,
            facts(
                (
                    ("when", stored.schedule.trigger.describe()),
                    ("task", stored.schedule.task),
                    ("state", f"paused{reason}" if stored.paused else "active"),
                    ("next tick", next_tick(stored, moments)),
                )
            ),
        ),
    )


CHANGES = (create, pause, resume, skip, trigger, backfill, delete)
