"""`drumbeat job`: submit, list, show, cancel and retry jobs, and wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from drumbeat.cli.command import Group
from drumbeat.cli.commands.job.bulk import BULK, Bulk, change_many
from drumbeat.cli.commands.job.submit import submit
from drumbeat.cli.commands.job.view import JOB_ID, job_facts, job_table
from drumbeat.cli.commands.job.wait import wait
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.job_filter import JOB_FILTER, read_job_filter
from drumbeat.cli.options.limit import limit_option, show_list
from drumbeat.cli.options.option import REASON
from drumbeat.cli.output.json_view import as_json, compact
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.operation import Kind
from drumbeat.model.text import last_line
from drumbeat.wire.job import AttemptView, JobView


@click.group("job", cls=Group)
def command() -> None:
    """Submit, list, show, cancel and retry jobs, and wait for them.

    Example:
      drumbeat job list --status failed
    """


command.add_command(submit)
command.add_command(wait)


@command.verb("list", JOB_FILTER, limit_option(), uses="jobs.list")
def list_jobs(session: Session, /, limit: int, **fields: Any) -> None:
    """List jobs, the newest first.

    Example:
      drumbeat job list --status failed --since -1d
    """
    wanted = read_job_filter(session.output, fields)
    show_list(session, limit, lambda fleet, page: fleet.jobs.list(wanted, page), job_table)


@command.verb("show", JOB_ID, uses="jobs.get jobs.attempts")
def show(session: Session, job_id: int) -> None:
    """Show the job ID and its attempts.

    Example:
      drumbeat job show 42
    """

    async def ask(fleet: Fleet) -> tuple[JobView, Sequence[AttemptView]]:
        return await fleet.jobs.get(job_id), await fleet.jobs.attempts(job_id)

    job, attempts = session.ask(ask)
    data = {**as_json(job), "attempts": attempts}
    session.output.show(data, job_facts(session.output.moments, job, attempts))


@command.verb("result", JOB_ID, uses="jobs.get")
def result(session: Session, job_id: int) -> None:
    """Print the result of the job ID as JSON, and nothing else.

    A job that failed or was cancelled has none: the exit code is then 1, and 4 while it is not
    finished.

    Example:
      drumbeat job result 42
    """
    job = session.ask(lambda fleet: fleet.jobs.get(job_id))
    if not job.status.final:
        raise Problem(
            f"job {job_id} is {job.status}; `drumbeat job wait {job_id}` waits for it",
            Exit.CONFLICT,
        )
    if job.status is not Status.COMPLETED:
        why = f": {last_line(job.error)}" if job.error else ""
        raise Problem(f"job {job_id} {job.status}{why}")
    session.output.show(job.result, compact(job.result))


@command.verb("retry", BULK, REASON, uses="jobs.retry operations.retry_jobs operations.get")
def retry(session: Session, job_id: int | None, bulk: Bulk) -> None:
    """Queue a failed or cancelled job again, or many.

    Their attempts are counted anew. Options choose many jobs; the leader then retries them in the
    background, and this command waits for the end.

    Example:
      drumbeat job retry 42
      drumbeat job retry --status failed --task send_receipt --since -1d
    """
    if job_id is None:
        change_many(session, Kind.RETRY, bulk)
        return
    session.ask(lambda fleet: fleet.jobs.retry(job_id, session.reason))
    _report(session, job_id, "queued again")


@command.verb("cancel", BULK, REASON, uses="jobs.cancel operations.cancel_jobs operations.get")
def cancel(session: Session, job_id: int | None, bulk: Bulk) -> None:
    """Cancel a job, or many.

    A waiting job ends; a running one is asked to end. Options choose many jobs; the leader then
    cancels them in the background, and this command waits for the end.

    Example:
      drumbeat job cancel 42 --reason "wrong customer"
      drumbeat job cancel --queue mail --status queued --dry-run
    """
    if job_id is None:
        change_many(session, Kind.CANCEL, bulk)
        return
    job = session.ask(lambda fleet: fleet.jobs.cancel(job_id, session.reason))
    is_over = job.status is Status.CANCELLED
    _report(session, job_id, "cancelled" if is_over else "asked to end")


def _report(session: Session, job_id: int, done: str) -> None:
    session.output.show({"id": job_id, "done": done}, f"job {job_id} was {done}")
