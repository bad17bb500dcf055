"""Watching a job: every change of it is told on standard error, until it is finished."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from drumbeat.cli.asked import Asked
from drumbeat.cli.output import Output
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.job import Job
from drumbeat.model.visible import visible

LOOK_EVERY = 0.5
"""Seconds between two looks at a job that has not finished."""


class Teller(Protocol):
    """Whoever is told how a job goes."""

    def __call__(self, job: Job) -> None:
        """The job as it stands now."""
        ...


async def watch(app: Asked, job_id: int, output: Output, timeout: float | None) -> Job:
    """The job once it is finished; `WaitTimeout` if it is not within so many seconds."""
    left = timeout
    with _told(output) as tell:
        while True:
            tell(await app.jobs.get(job_id))
            step = LOOK_EVERY if left is None else min(LOOK_EVERY, left)
            try:
                job = await app.jobs.wait(job_id, step)
            except WaitTimeout:
                left = None if left is None else left - step
                if left is not None and left <= 0:
                    raise WaitTimeout(f"job {job_id} did not finish within {timeout:g} s") from None
            else:
                tell(job)
                return job


@contextmanager
def _told(output: Output) -> Generator[Teller]:
    """A bar that grows on a terminal, else a line for each change."""
    if not sys.stderr.isatty():
        yield _Lines(output)
        return
    from rich.markup import escape  # noqa: PLC0415 - only on a terminal
    from rich.progress import Progress  # noqa: PLC0415 - as above

    with Progress(console=output.talk(), transient=True) as progress:
        bar = progress.add_task("", total=None)

        def tell(job: Job) -> None:
            done, total = (job.progress.done, job.progress.total) if job.progress else (0, None)
            description = escape(visible(_sentence(job)))  # a handler's words are no markup
            progress.update(bar, description=description, completed=done, total=total)

        yield tell


class _Lines:
    """A line for each change."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._last = ""

    def __call__(self, job: Job) -> None:
        sentence = _sentence(job)
        if sentence != self._last:
            self._last = sentence
            self._output.say(sentence)


def _sentence(job: Job) -> str:
    words = f"job {job.id} is {job.status}"
    if job.attempt > 1:
        words += f", attempt {job.attempt}"
    if job.progress is not None:
        of = f" of {job.progress.total:g}" if job.progress.total else ""
        words += f", {job.progress.done:g}{of} {job.progress.message}".rstrip()
    return words
