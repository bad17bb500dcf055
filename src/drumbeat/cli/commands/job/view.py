"""Jobs as people see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click
from rich.console import RenderableType

from drumbeat.cli.output.json_view import compact
from drumbeat.cli.output.tables import below, facts, table
from drumbeat.model.jobs.job import Status
from drumbeat.model.text import last_line
from drumbeat.rules.human_time import Moments, short
from drumbeat.wire.job import AttemptView, JobView, ProgressView

JOB_ID = click.argument("job_id", type=click.IntRange(min=1), metavar="ID")


def job_table(moments: Moments, jobs: Sequence[JobView]) -> RenderableType:
    rows = (
        (job.id, job.status, job.task, job.queue, _duration(job, moments), _timing(job, moments))
        for job in jobs
    )
    return table(
        (">id", "status", "task", "?queue", "?>took", f"when ({moments.zone_name})"),
        rows,
        "There are no such jobs.",
    )


def job_facts(
    moments: Moments, job: JobView, attempts: Sequence[AttemptView] = ()
) -> RenderableType:
    def at(instant: datetime | None) -> str | None:
        return None if instant is None else moments.stamped(instant)

    summary = facts(
        (
            ("job", job.id),
            ("task", job.task),
            ("status", job.status),
            ("queue", f"{job.queue}, priority {job.priority}"),
            ("arguments", compact(job.arguments)),
            ("schedule", job.schedule),
            ("tick", at(job.tick_at)),
            ("dedupe key", job.dedupe_key),
            ("tags", ", ".join(job.tags) or None),
            ("created", at(job.created_at)),
            ("may run", at(job.run_at)),
            ("expires", at(job.expires_at)),
            ("started", at(job.started_at)),
            ("finished", at(job.finished_at)),
            ("took", _duration(job, moments)),
            ("node", job.node),
            ("attempts", job.attempt or None),
            ("progress", None if job.progress is None else _progress(job.progress)),
            ("result", None if job.result is None else compact(job.result)),
            ("error", job.error),
        )
    )
    return below(summary, _attempts(moments, attempts)) if attempts else summary


def _attempts(moments: Moments, attempts: Sequence[AttemptView]) -> RenderableType:
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
    return table(titles, rows)


def _progress(progress: ProgressView) -> str:
    of = f" of {progress.total:g}" if progress.total else ""
    message = f", {progress.message}" if progress.message else ""
    return f"{progress.done:g}{of}{message}"


def _duration(job: JobView, moments: Moments) -> str | None:
    if job.started_at is None:
        return None
    return short((job.finished_at or moments.now) - job.started_at)


def _timing(job: JobView, moments: Moments) -> str:
    match job.status:
        case Status.PENDING:
            return f"runs {moments.distance(job.run_at)}"
        case Status.QUEUED:
            return f"waits since {moments.show(job.run_at)}"
        case Status.RUNNING:
            return f"attempt {job.attempt}, started {moments.distance(job.started_at)}"
        case _:
            return moments.both(job.finished_at)
