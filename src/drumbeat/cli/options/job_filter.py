"""The options that choose jobs."""

from __future__ import annotations

from typing import Any

from drumbeat.cli.command import together
from drumbeat.cli.options.option import choice, switch, text
from drumbeat.cli.output.output import Output
from drumbeat.model.jobs.job import JobFilter, Status

FIELDS = ("task", "queue", "schedule", "tag", "expired", "skipped")

JOB_FILTER = together(
    choice(
        "--status statuses", Status, "Only jobs of this status; may be repeated.", multiple=True
    ),
    text("--task", "NAME", "Only jobs of this task."),
    text("--queue", "NAME", "Only jobs of this queue."),
    text("--schedule", "NAME", "Only jobs of this schedule."),
    text("--tag", "TAG", "Only jobs with this tag."),
    switch("--expired", "Only jobs that expired before they could start."),
    switch("--skipped", "Only jobs that were skipped because their limit was reached."),
    text("--since", "TIME", "Only jobs submitted since, such as -2h."),
)


def read_job_filter(output: Output, given: dict[str, Any]) -> JobFilter:
    """The filter that the options make; they are removed from `given`."""
    since = given.pop("since")
    return JobFilter(
        statuses=frozenset(Status(status) for status in given.pop("statuses")),
        created_from=output.moments.read(since) if since else None,
        **{name: given.pop(name) for name in FIELDS},
    )
