"""`drumbeat job submit`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from drumbeat.cli.command import make_command
from drumbeat.cli.commands.job.view import job_facts
from drumbeat.cli.commands.job.wait import wait_for
from drumbeat.cli.options.arguments import is_known, read_arguments
from drumbeat.cli.options.option import switch, text, whole
from drumbeat.cli.options.retry import RETRY, read_retry
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import InvalidInput
from drumbeat.model.jobs.dedupe import check_dedupe_for
from drumbeat.model.jobs.expiry import check_expires
from drumbeat.model.jobs.job import HIGHEST_PRIORITY
from drumbeat.model.time.duration import parse_duration
from drumbeat.wire.job import JobView
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.requests import request
from drumbeat.wire.retry import new_retry_view

LENGTHS = ("delay", "timeout", "dedupe_for")


@make_command(
    "submit",
    click.argument("task"),
    click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]..."),
    text("--json text", "OBJECT", "All arguments as one JSON object."),
    text("--queue", "NAME", "The queue of the job."),
    whole("--priority", "Jobs of a higher priority run first.", least=0, most=HIGHEST_PRIORITY),
    text("--delay", "DURATION", "Start so much later, such as 90s or 2h."),
    text("--at", "TIME", "Start at this time or later."),
    text("--timeout", "DURATION", "The longest time of one attempt."),
    RETRY,
    text("--dedupe-key", "KEY", "Create no second job with this key."),
    text("--dedupe-for", "DURATION", "How long the key stays taken after the job; 1d by default."),
    text("--dedupe-scope", "NAME", "Jobs of one scope share dedupe keys; the task by default."),
    text("--expires", "DURATION|TIME", "Start no attempt so long after it is due, or then."),
    text("--tag tags", "TAG", "A tag; may be repeated.", multiple=True),
    switch("--wait waits", "Wait until the job is finished, and say why it does not start."),
    text("--wait-timeout", "DURATION", "Wait at most so long, such as 5m; implies --wait."),
    uses="jobs.create tasks",
)
def submit(
    session: Session,
    /,
    task: str,
    arguments: Sequence[str],
    text: str | None,
    *,
    waits: bool,
    wait_timeout: str | None,
    **options: Any,
) -> None:
    """Submit a job of TASK.

    Arguments are given by name; a value that is JSON is read as JSON. They are checked if the task
    is known, which needs --app or --server. Otherwise the worker that runs the job checks them.

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

    job = session.ask_or_create(ask)
    if waits or wait_timeout is not None:
        wait_for(session, job.id, wait_timeout)
        return
    session.output.show(job, job_facts(session.output.moments, job))


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
    if "expires" in chosen:
        chosen["expires"] = _expires(session, str(chosen["expires"]))
    if "at" in chosen:
        chosen["schedule_at"] = session.output.moments.read(str(chosen.pop("at")))
    return chosen if retry is None else {**chosen, "retry": new_retry_view(retry)}


def _expires(session: Session, given: str) -> float | datetime:
    """A length, or else an instant."""
    try:
        length = parse_duration(given)
    except InvalidInput:
        return session.output.moments.read(given)
    check_expires(length)
    return length.total_seconds()
