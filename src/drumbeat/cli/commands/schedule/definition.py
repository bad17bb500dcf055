"""`drumbeat schedule create` and `edit`: the definition of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from drumbeat.cli.command import make_command, together
from drumbeat.cli.commands.schedule.view import report
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.arguments import is_known, read_arguments
from drumbeat.cli.options.option import NAME, REASON, choice, switch, text, whole
from drumbeat.cli.options.trigger import trigger_options
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

LENGTHS = ("window", "jitter")
INSTANTS = ("start_at", "end_at")
POLICIES = ("misfire", "overlap", "max_runs", "run_on", *LENGTHS, *INSTANTS)


DEFINITION = together(
    text(
        "--arg arguments", "NAME=VALUE", "An argument of its jobs; may be repeated.", multiple=True
    ),
    text("--queue", "NAME", "The queue of its jobs."),
    whole("--priority", "The priority of its jobs.", least=0, most=HIGHEST_PRIORITY),
    text("--tag tags", "TAG", "A tag of it and its jobs; may be repeated.", multiple=True),
    text("--expires", "DURATION", "Start no job so long after its tick."),
    choice("--misfire", Misfire, "What to do with missed ticks."),
    text("--window", "DURATION", "How late a tick may still fire."),
    choice("--overlap", Overlap, "What to do with a tick while the last job is unfinished."),
    text("--jitter", "DURATION", "Start each job up to so much after its tick."),
    text("--start-at", "TIME", "No tick before this time."),
    text("--end-at", "TIME", "No tick after this time."),
    whole("--max-runs", "The highest number of runs."),
    choice("--run-on", RunOn, "Run on any worker, or on the leader."),
    text("--description", "TEXT", "What it is for."),
)
"""The options of a schedule besides its task and its trigger."""


@make_command(
    "create",
    NAME,
    text("--task", "NAME", "The task that each tick submits.", required=True),
    trigger_options(required=True),
    DEFINITION,
    switch("--replace replaces", "Replace the schedule if it exists."),
    REASON,
    uses="schedules.create schedules.replace",
)
def create(
    session: Session, /, name: str, task: str, trigger: Trigger, *, replaces: bool, **options: Any
) -> None:
    """Create the schedule NAME for a task.

    The task need not exist yet: its jobs wait for a worker that knows it.

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

    schedule, is_new = session.ask_or_create(ask)
    report(session, schedule, f"schedule {name} was {'created' if is_new else 'replaced'}")


@make_command(
    "edit",
    NAME,
    text("--task", "NAME", "The task that each tick submits."),
    trigger_options(required=False),
    DEFINITION,
    REASON,
    uses="schedules.patch",
)
def edit(
    session: Session, /, name: str, task: str | None, trigger: Trigger | None, **options: Any
) -> None:
    """Change the schedule NAME: only what is given changes.

    Arguments given by --arg replace all of its arguments. A schedule that code declares keeps the
    change until `schedule hand-back`.

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
    given = {name: value for name, value in options.items() if value not in (None, ())}
    for name in (*LENGTHS, "expires"):
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
