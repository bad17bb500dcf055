"""`drumbeat job wait`."""

from __future__ import annotations

import click

from drumbeat.cli.command import Command, operations
from drumbeat.cli.commands.job.progress import watch
from drumbeat.cli.commands.job.view import JOB_ID, job_facts
from drumbeat.cli.exit_codes import Problem
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.session.session import Session
from drumbeat.model.jobs.job import Status
from drumbeat.model.text import last_line
from drumbeat.model.time.duration import parse_duration


@click.command(cls=Command)
@JOB_ID
@click.option("--timeout", metavar="DURATION", help="The longest time to wait, such as 5m.")
@operations("jobs.wait")
@click.pass_obj
def wait(session: Session, job_id: int, timeout: str | None) -> None:
    """Wait until the job ID is finished.

    Reports its progress; the exit code is 0 only if it completed.

    \b
    Example:
      drumbeat job wait 42 --timeout 5m
    """
    wait_for(session, job_id, timeout)


def wait_for(session: Session, job_id: int, timeout: str | None) -> None:
    """Wait for a job and print it; a `Problem` if it did not complete."""
    seconds = None if timeout is None else parse_duration(timeout).total_seconds()
    job = session.ask(lambda fleet: watch(fleet, job_id, session.output, seconds))
    session.output.show(as_json(job), lambda: job_facts(session.output.moments, job))
    if job.status is not Status.COMPLETED:
        why = f": {last_line(job.error)}" if job.error else ""
        raise Problem(f"job {job.id} {job.status}{why}")
