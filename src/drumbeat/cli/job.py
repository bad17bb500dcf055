"""`drumbeat job`: submit jobs, look at them, cancel and retry them, wait for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.console import RenderableType

from drumbeat.cli.arguments import ARGUMENTS, JSON_ARGUMENTS, read_arguments
from drumbeat.cli.asked import Asked, Order
from drumbeat.cli.bulk import Bulk, bulk_options, change_many
from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.pages import first
from drumbeat.cli.reasons import reasoned
from drumbeat.cli.retrying import read_retry, retry_options
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import attempt_shape, job_shape, parsed
from drumbeat.cli.tables import below, facts, note, table
from drumbeat.cli.watching import watch
from drumbeat.model.duration import parse_duration
from drumbeat.model.job import (
    AttemptRecord,
    Cancelled,
    CancelRequested,
    Job,
    JobFilter,
    JobSpec,
    Reopened,
    Status,
    TooLate,
)
from drumbeat.model.operation import Kind
from drumbeat.model.wording import last_line
from drumbeat.rules.moments import Moments, short
from drumbeat.wire.redaction import redacted

if TYPE_CHECKING:
    from datetime import datetime

JOB_ID = click.argument("job_id", type=click.IntRange(min=1), metavar="ID")


@click.group("job", cls=Group)
def command() -> None:
    """Submit jobs, look at them, cancel and retry them, wait for them.

    \b
    Example:
      drumbeat job list --status failed
    """


@command.command()
@click.argument("task")
@ARGUMENTS
@JSON_ARGUMENTS
@click.option("--queue", metavar="NAME", help="The queue that it waits in.")
@click.option("--priority", type=click.IntRange(0, 100), help="0 to 100; a higher one runs first.")
@click.option("--delay", metavar="DURATION", help="How long it waits, such as 90s or 2h.")
@click.option("--at", metavar="TIME", help="When it may start.")
@click.option("--timeout", metavar="DURATION", help="How long one attempt may take.")
@retry_options
@click.option("--dedupe-key", metavar="KEY", help="No second job for the key while one is there.")
@click.option(
    "--dedupe-for", metavar="DURATION", help="And so long after its end; a day by default."
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="For finding it again.")
@click.option("--wait", "waits", is_flag=True, help="Wait until it is finished.")
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

    Arguments are given by name; a value that is JSON is read as such. With --app they are checked
    and the task's own options apply. Without it the job is stored as it is given, for a worker that
    knows the task.

    \b
    Example:
      drumbeat job submit send_receipt order_id=42
      drumbeat job submit report --json '{"day": "2026-07-01"}' --delay 1h --max-retries 0
    """
    named = read_arguments(arguments, text)
    chosen = _options(session, options)

    order = Order(task, named, chosen, known=session.app_path is not None)

    async def ask(app: Asked) -> Job:
        unchecked = None if order.known else await app.unchecked(task)
        if unchecked is not None:
            session.output.say(unchecked)
        return await app.submit(order)

    job = session.ask(ask)
    if waits:
        _wait(session, job.id, None)
        return
    session.output.show(job_shape(job, session.secrets), lambda: _job(session, job, ()))


def _options(session: Session, given: dict[str, Any]) -> dict[str, Any]:
    given["retry"] = read_retry(given)
    chosen = {name: value for name, value in given.items() if value not in (None, ())}
    for name in ("delay", "timeout", "dedupe_for"):
        if name in chosen:
            chosen[name] = parse_duration(str(chosen[name]))
    if "at" in chosen:
        chosen["run_at"] = _moments(session).read(str(chosen.pop("at")))
    return chosen


@command.command("list")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in Status]),
    help="Only these; may be repeated.",
)
@click.option("--task", metavar="NAME", help="Only of this task.")
@click.option("--queue", metavar="NAME", help="Only of this queue.")
@click.option("--schedule", metavar="NAME", help="Only of this schedule.")
@click.option("--tag", metavar="TAG", help="Only with this tag.")
@click.option("--since", metavar="TIME", help="Only submitted since then, such as -2h.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many.")
@click.pass_obj
def list_jobs(
    session: Session,
    /,
    statuses: Sequence[str],
    since: str | None,
    limit: int,
    **fields: Any,
) -> None:
    """List jobs, the newest first.

    \b
    Example:
      drumbeat job list --status failed --since -1d
    """
    moments = _moments(session)
    wanted = JobFilter(
        statuses=frozenset(Status(status) for status in statuses),
        created_from=moments.read(since) if since else None,
        **fields,
    )
    jobs, more = session.ask(lambda app: first(limit, lambda page: app.jobs.list(wanted, page)))
    session.output.show(
        [job_shape(job, session.secrets) for job in jobs], lambda: _jobs(moments, jobs)
    )
    if more:
        session.output.say(f"There are more; --limit shows more than {limit}.")


@command.command()
@JOB_ID
@click.pass_obj
def show(session: Session, job_id: int) -> None:
    """Show the job ID and its attempts.

    \b
    Example:
      drumbeat job show 42
    """

    async def ask(app: Asked) -> tuple[Job, Sequence[AttemptRecord]]:
        return await app.jobs.get(job_id), await app.jobs.attempts(job_id)

    job, attempts = session.ask(ask)
    data = {
        **job_shape(job, session.secrets),
        "attempts": [attempt_shape(each) for each in attempts],
    }
    session.output.show(data, lambda: _job(session, job, attempts))


@command.command()
@bulk_options
@reasoned
@click.pass_obj
def retry(session: Session, job_id: int | None, bulk: Bulk) -> None:
    """Queue a failed or cancelled job again, or many.

    Their attempts are counted anew. Many are chosen by options; the leading node then retries them
    in the background, which this waits for.

    \b
    Example:
      drumbeat job retry 42
      drumbeat job retry --status failed --task send_receipt --since -1d
    """
    if job_id is None:
        change_many(session, Kind.RETRY, bulk, session.reason)
        return
    verdict = session.ask(lambda app: app.jobs.retry(job_id))
    match verdict:
        case Reopened():
            _answer(session, job_id, "queued again")
        case TooLate():
            raise Problem(
                f"job {job_id} is {verdict.status}; only failed and cancelled jobs are retried",
                Exit.CONFLICT,
            )


@command.command()
@bulk_options
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who look at it later.")
@click.pass_obj
def cancel(session: Session, job_id: int | None, bulk: Bulk, reason: str) -> None:
    """Cancel a job, or many.

    A waiting one ends; a running one is asked to end. Many are chosen by options; the leading node
    then cancels them in the background, which this waits for.

    \b
    Example:
      drumbeat job cancel 42 --reason "wrong customer"
      drumbeat job cancel --queue mail --status queued --dry-run
    """
    if job_id is None:
        change_many(session, Kind.CANCEL, bulk, reason)
        return
    verdict = session.ask(lambda app: app.jobs.cancel(job_id, reason))
    match verdict:
        case Cancelled():
            _answer(session, job_id, "cancelled")
        case CancelRequested():
            _answer(session, job_id, "asked to end")
        case TooLate():
            raise Problem(f"job {job_id} is {verdict.status} already", Exit.CONFLICT)


@command.command()
@JOB_ID
@click.option("--timeout", metavar="DURATION", help="How long to wait at most, such as 5m.")
@click.pass_obj
def wait(session: Session, job_id: int, timeout: str | None) -> None:
    """Wait until the job ID is finished.

    Tells how it goes; the exit code is 0 only if it completed.

    \b
    Example:
      drumbeat job wait 42 --timeout 5m
    """
    _wait(session, job_id, timeout)


def _wait(session: Session, job_id: int, timeout: str | None) -> None:
    seconds = None if timeout is None else parse_duration(timeout).total_seconds()
    job = session.ask(lambda app: watch(app, job_id, session.output, seconds))
    session.output.show(job_shape(job, session.secrets), lambda: _job(session, job, ()))
    if job.status is not Status.COMPLETED:
        why = f": {last_line(job.error)}" if job.error else ""
        raise Problem(f"job {job.id} {job.status}{why}")


def _answer(session: Session, job_id: int, done: str) -> None:
    session.output.show({"id": job_id, "done": done}, lambda: f"job {job_id} was {done}")


def _moments(session: Session) -> Moments:
    return Moments(session.output.now, session.output.zone)


def _jobs(moments: Moments, jobs: Sequence[Job]) -> RenderableType:
    rows = (
        (job.id, job.status, job.task, job.spec.queue, _taken(job, moments), _timing(job, moments))
        for job in jobs
    )
    made = table((">id", "status", "task", "?queue", "?>took", f"when ({moments.zone_name})"), rows)
    return made if jobs else note("There are no such jobs.")


def _shown(session: Session, spec: JobSpec) -> str:
    arguments = redacted(spec.arguments, session.secrets(spec.task))
    return json.dumps(parsed(arguments), ensure_ascii=False)


def _taken(job: Job, moments: Moments) -> str | None:
    if job.started_at is None:
        return None
    return short((job.finished_at or moments.now) - job.started_at)


def _timing(job: Job, moments: Moments) -> str:
    match job.status:
        case Status.PENDING:
            return f"runs {moments.distance(job.run_at)}"
        case Status.QUEUED:
            return f"waits since {moments.show(job.run_at)}"
        case Status.RUNNING:
            return f"attempt {job.attempt}, started {moments.distance(job.started_at)}"
        case _:
            return moments.both(job.finished_at)


def _job(session: Session, job: Job, attempts: Sequence[AttemptRecord]) -> RenderableType:
    moments = _moments(session)
    spec = job.spec
    progress = job.progress and f"{job.progress.done:g}" + (
        f" of {job.progress.total:g}" if job.progress.total else ""
    ) + (f", {job.progress.message}" if job.progress.message else "")

    def at(instant: datetime | None) -> str | None:
        return None if instant is None else moments.stamped(instant)

    summary = facts(
        (
            ("job", job.id),
            ("task", job.task),
            ("status", job.status),
            ("queue", f"{spec.queue}, priority {spec.priority}"),
            ("arguments", _shown(session, spec)),
            ("schedule", spec.schedule),
            ("tick", at(spec.tick_at)),
            ("dedupe key", spec.dedupe_key),
            ("tags", ", ".join(spec.tags) or None),
            ("created", at(job.created_at)),
            ("may run", at(job.run_at)),
            ("started", at(job.started_at)),
            ("finished", at(job.finished_at)),
            ("took", _taken(job, moments)),
            ("node", job.node),
            ("attempts", job.attempt or None),
            ("progress", progress),
            ("result", None if job.result is None else json.dumps(parsed(job.result))),
            ("error", job.error),
        )
    )
    if not attempts:
        return summary
    rows = (
        (
            each.number,
            moments.show(each.started_at),
            short(each.ended_at - each.started_at),
            each.node,
            each.change,
            last_line(each.error) if each.error else None,
        )
        for each in attempts
    )
    titles = (">#", f"started ({moments.zone_name})", ">took", "?node", "then", "error")
    return below(summary, table(titles, rows))
