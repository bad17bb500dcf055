"""`drumbeat job wait`: reports the progress of a job, or why it waits, until it is finished."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Protocol

from drumbeat.cli.command import make_command
from drumbeat.cli.commands.job.view import JOB_ID, job_facts
from drumbeat.cli.commands.job.waiting_reason import waiting_reason
from drumbeat.cli.exit_codes import Problem
from drumbeat.cli.options.option import text
from drumbeat.cli.output.output import Output
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.jobs.job import Status
from drumbeat.model.text import last_line
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.visible_text import visible
from drumbeat.wire.job import JobView

LOOK_EVERY = 0.5
"""Seconds between two reads of a job that is not finished."""
LOOKS_PER_REASON = 4
"""How many reads of the job share one look at what it waits for."""
UNSTARTED = (Status.PENDING, Status.QUEUED)


@make_command(
    "wait",
    JOB_ID,
    text("--timeout", "DURATION", "The longest time to wait, such as 5m."),
    uses="jobs.wait nodes.list",
)
def wait(session: Session, job_id: int, timeout: str | None) -> None:
    """Wait until the job ID is finished.

    Reports its progress, and why it does not start; the exit code is 0 only if it completed.

    Example:
      drumbeat job wait 42 --timeout 5m
    """
    wait_for(session, job_id, timeout)


def wait_for(session: Session, job_id: int, timeout: str | None) -> None:
    """Wait for a job and print it; a `Problem` if it did not complete."""
    seconds = None if timeout is None else parse_duration(timeout).total_seconds()
    job = session.ask(lambda fleet: watch(fleet, job_id, session.output, seconds))
    session.output.show(job, job_facts(session.output.moments, job))
    if job.status is not Status.COMPLETED:
        why = f": {last_line(job.error)}" if job.error else ""
        raise Problem(f"job {job.id} {job.status}{why}")


class Report(Protocol):
    """Reports the state of a job, and why it waits."""

    def __call__(self, job: JobView, reason: str | None) -> None: ...


async def watch(fleet: Fleet, job_id: int, output: Output, timeout: float | None) -> JobView:
    """The job once it is finished; `WaitTimeout` after that many seconds."""
    left, looks, reason = timeout, 0, None  # the reason that was found last
    with _report_to(output) as report:
        while True:
            job = await fleet.jobs.get(job_id)
            if job.status not in UNSTARTED:
                reason = None
            elif looks % LOOKS_PER_REASON == 0:
                reason = await waiting_reason(fleet, job, output.moments)
            report(job, reason)
            if job.status.final:
                return job
            if left is not None and left <= 0:
                why = f": {reason}" if reason else ""
                raise WaitTimeout(f"job {job_id} did not finish within {timeout:g} s{why}")
            step = LOOK_EVERY if left is None else min(LOOK_EVERY, left)
            left = None if left is None else left - step
            looks += 1
            with suppress(WaitTimeout):
                await fleet.jobs.wait(job_id, step)


@contextmanager
def _report_to(output: Output) -> Generator[Report]:
    """A bar that grows on a terminal, else a line for each change."""
    if not sys.stderr.isatty():
        yield _Lines(output.say)
        return
    from rich.markup import escape  # noqa: PLC0415 - only on a terminal
    from rich.progress import Progress  # noqa: PLC0415 - as above

    with Progress(console=output.error_console(), transient=True) as progress:
        bar = progress.add_task("", total=None)

        lines = _Lines(lambda line: progress.console.print(visible(line), markup=False))

        def report(job: JobView, reason: str | None) -> None:
            if reason is not None:
                lines(job, reason)
            done, total = (job.progress.done, job.progress.total) if job.progress else (0, None)
            description = escape(visible(_sentence(job)))  # a handler's message is not markup
            progress.update(bar, description=description, completed=done, total=total)

        yield report


class _Lines:
    """A line for each change."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._last = ""

    def __call__(self, job: JobView, reason: str | None) -> None:
        sentence = _sentence(job) if reason is None else f"{_sentence(job)}: {reason}"
        if sentence != self._last:
            self._last = sentence
            self._say(sentence)


def _sentence(job: JobView) -> str:
    words = f"job {job.id} is {job.status}"
    if job.attempt > 1:
        words += f", attempt {job.attempt}"
    if job.progress is not None:
        of = f" of {job.progress.total:g}" if job.progress.total else ""
        words += f", {job.progress.done:g}{of} {job.progress.message}".rstrip()
    return words
