"""The options that choose jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from drumbeat.cli.output.output import Output
from drumbeat.model.jobs.job import JobFilter, Status

F = TypeVar("F", bound=Callable[..., Any])

FIELDS = ("task", "queue", "schedule", "tag")


def job_filter_options(function: F) -> F:
    """Give a command the options of a job filter; `read_job_filter` takes them."""
    statuses = click.Choice([status.value for status in Status])
    for option in (
        click.option("--since", metavar="TIME", help="Only jobs submitted since, such as -2h."),
        click.option("--tag", metavar="TAG", help="Only jobs with this tag."),
        click.option("--schedule", metavar="NAME", help="Only jobs of this schedule."),
        click.option("--queue", metavar="NAME", help="Only jobs of this queue."),
        click.option("--task", metavar="NAME", help="Only jobs of this task."),
        click.option(
            "--status",
            "statuses",
            multiple=True,
            type=statuses,
            help="Only jobs of this status; may be repeated.",
        ),
    ):
        function = option(function)
    return function


def read_job_filter(output: Output, given: dict[str, Any]) -> JobFilter:
    """The filter that the options make; they are removed from `given`."""
    since = given.pop("since")
    return JobFilter(
        statuses=frozenset(Status(status) for status in given.pop("statuses")),
        created_from=output.moments.read(since) if since else None,
        **{name: given.pop(name) for name in FIELDS},
    )
