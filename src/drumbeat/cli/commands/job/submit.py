"""`drumbeat job submit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from drumbeat.cli.command import Command, operations
from drumbeat.cli.commands.job.view import job_facts
from drumbeat.cli.commands.job.wait import wait_for
from drumbeat.cli.options.arguments import ARGUMENTS, JSON_ARGUMENTS, read_arguments
from drumbeat.cli.options.known_task import is_known
from drumbeat.cli.options.retry import read_retry, retry_options
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.jobs.job import HIGHEST_PRIORITY, check_dedupe_for
from drumbeat.model.time.duration import parse_duration
from drumbeat.wire.job import JobView
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.requests import request
from drumbeat.wire.retry import retry_view

LENGTHS = ("delay", "timeout", "dedupe_for")


@click.command(cls=Command)
@click.argument("task")
@ARGUMENTS
@JSON_ARGUMENTS
@click.option("--queue", metavar="NAME", help="The queue of the job.")
@click.option(
    "--priority",
    type=click.IntRange(0, HIGHEST_PRIORITY),
    help="0 to 100; jobs of a higher priority run first.",
)
@click.option("--delay", metavar="DURATION", help="Start so much later, such as 90s or 2h.")
@click.option("--at", metavar="TIME", help="Start at this time or later.")
@click.option("--timeout", metavar="DURATION", help="The longest time of one attempt.")
@retry_options
@click.option("--dedupe-key", metavar="KEY", help="Create no second job with this key.")
@click.option(
    "--dedupe-for",
    metavar="DURATION",
    help="How long the key is taken after the job's end; a day by default.",
)
@click.option(
    "--dedupe-scope",
    metavar="NAME",
    help="Jobs of one scope share their dedupe keys; by default those of one task.",
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated.")
@click.option("--wait", "waits", is_flag=True, help="Wait until the job is finished.")
@operations("jobs.create", "tasks")
@click.pass_obj
def submit(
    session: Session,
    /,
    task: str,
    arguments: Sequence[str],
    text: str | None,
    *,
    waits: bool,
    **options: Any,
) -> None:
    """Submit a job of TASK.

    Arguments are given by name; a value that is JSON is read as JSON. They are checked if the task
    is known, which needs --app or --server. Otherwise the worker that runs the job checks them.

    \b
    Example:
      drumbeat job submit send_receipt order_id=42
      drumbeat job submit report --json '{"day": "2026-07-01"}' --delay 1h --max-retries 0
    """
    fields = {"task": task, "args": read_arguments(arguments, text), **_fields(session, options)}

    async def ask(fleet: Fleet) -> JobView:
        if not await is_known(session, fleet, task):
            session.output.say(
                f"The task {task!r} is not known here: its arguments are not checked, and its own "
                f"options do not apply."
            )
        return (await fleet.jobs.create(request(NewJobView, fields))).view

    job = session.ask(ask)
    if waits:
        wait_for(session, job.id, None)
        return
    session.output.show(as_json(job), lambda: job_facts(session.output.moments, job))


def _fields(session: Session, given: dict[str, Any]) -> dict[str, Any]:
    """The options that are given, as fields of the request."""
    retry = read_retry(given)
    chosen = {name: value for name, value in given.items() if value not in (None, ())}
    for name in LENGTHS:
        if name in chosen:
            length = parse_duration(str(chosen[name]))
            if name == "dedupe_for":
                check_dedupe_for(length)
            chosen[name] = length.total_seconds()
    if "at" in chosen:
        chosen["schedule_at"] = session.output.moments.read(str(chosen.pop("at")))
    return chosen if retry is None else {**chosen, "retry": retry_view(retry)}
