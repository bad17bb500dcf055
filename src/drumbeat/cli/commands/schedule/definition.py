"""`drumbeat schedule create` and `edit`: the definition of a schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from drumbeat.cli.command import Command, operations
from drumbeat.cli.commands.schedule.view import report
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.arguments import read_arguments
from drumbeat.cli.options.known_task import is_known
from drumbeat.cli.options.reason import reason_option
from drumbeat.cli.options.trigger import optional_trigger_options, trigger_options
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import Conflict
from drumbeat.model.jobs.job import HIGHEST_PRIORITY
from drumbeat.model.schedules.policy import Misfire, Overlap, RunOn
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.wire.new_schedule import (
    NewScheduleView,
    ScheduleChangesView,
    ScheduleDefinitionView,
)
from drumbeat.wire.requests import request
from drumbeat.wire.schedule import ScheduleView

F = TypeVar("F", bound=Callable[..., Any])

LENGTHS = ("window", "jitter")
INSTANTS = ("start_at", "end_at")
POLICIES = ("misfire", "overlap", "max_runs", "run_on", *LENGTHS, *INSTANTS)


def _one_of(kind: type[Misfire | Overlap | RunOn]) -> click.Choice[str]:
    return click.Choice([each.value for each in kind])


def definition_options(function: F) -> F:
    """Give a command the options of a schedule besides its task and trigger."""
    for option in (
        click.option("--description", metavar="TEXT", help="What it is for."),
        click.option("--run-on", type=_one_of(RunOn), help="Run on any worker, or on the leader."),
        click.option("--max-runs", type=click.IntRange(1), help="The highest number of runs."),
        click.option("--end-at", metavar="TIME", help="No tick after this time."),
        click.option("--start-at", metavar="TIME", help="No tick before this time."),
        click.option(
            "--jitter", metavar="DURATION", help="Start each job up to so much after its tick."
        ),
        click.option(
            "--overlap",
            type=_one_of(Overlap),
            help="What to do with a tick while the last job is unfinished.",
        ),
        click.option("--window", metavar="DURATION", help="How late a tick may still fire."),
        click.option("--misfire", type=_one_of(Misfire), help="What to do with missed ticks."),
        click.option(
            "--priority", type=click.IntRange(0, HIGHEST_PRIORITY), help="0 to 100, of its jobs."
        ),
        click.option("--queue", metavar="NAME", help="The queue of its jobs."),
        click.option(
            "--arg",
            "arguments",
            multiple=True,
            metavar="NAME=VALUE",
            help="An argument of the task; may be repeated.",
        ),
    ):
        function = option(function)
    return function


@click.command(cls=Command)
@click.argument("name")
@click.option("--task", required=True, metavar="NAME", help="The task that each tick submits.")
@trigger_options
@definition_options
@click.option("--replace", "replaces", is_flag=True, help="Replace the schedule if it exists.")
@reason_option
@operations("schedules.create", "schedules.replace")
@click.pass_obj
def create(
    session: Session, /, name: str, task: str, trigger: Trigger, *, replaces: bool, **options: Any
) -> None:
    """Create the schedule NAME for a task.

    The task need not exist yet: its jobs wait for a worker that knows it.

    \b
    Example:
      drumbeat schedule create nightly --task backup --cron "0 2 * * *" --tz Europe/Paris
      drumbeat schedule create beat --task ping --every 30s --arg host=db-1
    """
    fields = {"task": task, "when": trigger.to_json(), **_fields(session, options)}

    async def ask(fleet: Fleet) -> tuple[ScheduleView, bool]:
        await is_known(session, fleet, task)
        if replaces:
            definition = request(ScheduleDefinitionView, fields)
            return await fleet.schedules.replace(name, definition, session.reason)
        try:
            new = request(NewScheduleView, {"name": name, **fields})
            return await fleet.schedules.create(new, session.reason), True
        except Conflict as error:
            raise Problem(f"{error}; --replace replaces it", Exit.CONFLICT) from error

    schedule, is_new = session.ask(ask)
    report(session, schedule, f"schedule {name} was {'created' if is_new else 'replaced'}")


@click.command(cls=Command)
@click.argument("name")
@click.option("--task", metavar="NAME", help="The task that each tick submits.")
@optional_trigger_options
@definition_options
@reason_option
@operations("schedules.patch")
@click.pass_obj
def edit(
    session: Session, /, name: str, task: str | None, trigger: Trigger | None, **options: Any
) -> None:
    """Change the schedule NAME: only what is given changes.

    Arguments given by --arg replace all of its arguments. A schedule that code declares keeps the
    change until `schedule hand-back`.

    \b
    Example:
      drumbeat schedule edit nightly --cron "0 3 * * *" --reason "after the backup"
      drumbeat schedule edit nightly --queue slow
    """
    fields = _fields(session, options)
    if task is not None:
        fields["task"] = task
    if trigger is not None:
        fields["when"] = trigger.to_json()
    if not fields:
        raise click.UsageError("say what to change, by options such as --cron or --queue")

    async def ask(fleet: Fleet) -> ScheduleView:
        if task is not None:
            await is_known(session, fleet, task)
        changes = request(ScheduleChangesView, fields)
        return await fleet.schedules.patch(name, changes, session.reason)

    report(session, session.ask(ask), f"schedule {name} was changed")


def _fields(session: Session, options: dict[str, Any]) -> dict[str, Any]:
    """The options that are given, as fields of a request."""
    arguments: Sequence[str] = options.pop("arguments")
    given = {name: value for name, value in options.items() if value is not None}
    for name in LENGTHS:
        if name in given:
            given[name] = parse_duration(given[name]).total_seconds()
    for name in INSTANTS:
        if name in given:
            given[name] = session.output.moments.read(given[name])
    policies = {name: given.pop(name) for name in POLICIES if name in given}
    if policies:
        given["policies"] = policies
    if arguments:
        given["args"] = read_arguments(arguments)
    return given
