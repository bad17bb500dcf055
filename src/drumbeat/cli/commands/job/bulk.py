"""Bulk changes of jobs: `drumbeat job retry --status failed`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from drumbeat.cli.command import Callback, together
from drumbeat.cli.commands.job.wait import watch
from drumbeat.cli.exit_codes import Problem
from drumbeat.cli.options.job_filter import JOB_FILTER, read_job_filter
from drumbeat.cli.options.option import switch
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.jobs.operation import Kind
from drumbeat.model.text import counted
from drumbeat.wire.operation import OperationView

DONE = {Kind.RETRY: "queued again", Kind.CANCEL: "cancelled"}


@dataclass(frozen=True, slots=True)
class Bulk:
    """The jobs that the options choose, and how they are changed."""

    wanted: JobFilter
    everything: bool
    dry_run: bool
    waits: bool

    @property
    def given(self) -> bool:
        return self.everything or self.wanted != JobFilter()


def _reading(function: Callback) -> Callback:
    @wraps(function)
    def called(*, job_id: int | None, **given: Any) -> Any:
        session = click.get_current_context().ensure_object(Session)
        wanted = read_job_filter(session.output, given)
        everything, dry_run, leaves = (given.pop(n) for n in ("everything", "dry_run", "leaves"))
        bulk = Bulk(wanted, everything, dry_run, not leaves)
        if (job_id is None) is not bulk.given:
            raise click.UsageError("give the ID of one job, or options such as --status and --task")
        return function(job_id=job_id, bulk=bulk, **given)

    return called


BULK = together(
    click.argument("job_id", type=click.IntRange(min=1), metavar="[ID]", required=False),
    JOB_FILTER,
    switch("--all everything", "All jobs."),
    switch("--dry-run", "Only count the jobs."),
    switch("--no-wait leaves", "Do not wait for the end."),
    _reading,
)
"""An optional ID, and the options that choose many jobs instead."""


def change_many(session: Session, kind: Kind, bulk: Bulk) -> None:
    """Start an operation on many jobs, and report its progress."""

    async def ask(fleet: Fleet) -> OperationView:
        operations = fleet.operations
        start = operations.retry_jobs if kind is Kind.RETRY else operations.cancel_jobs
        operation = await start(
            bulk.wanted, session.reason, everything=bulk.everything, dry_run=bulk.dry_run
        )
        if (await fleet.elections.get()).leader is None:
            session.output.say("Nobody leads: it begins once a node with the role scheduler runs.")
        if bulk.waits:
            await watch(fleet, operation.id, session.output, None)
        return await operations.get(operation.id)

    operation = session.ask(ask)
    session.output.show(operation, _summary(operation))
    if operation.status in (Status.FAILED, Status.CANCELLED):
        why = f": {operation.error}" if operation.error else ""
        raise Problem(f"operation {operation.id} {operation.status}{why}")


def _summary(operation: OperationView) -> str:
    if not operation.status.final:
        number = operation.id
        return (
            f"operation {number} is {operation.status}; `drumbeat job wait {number}` waits for it"
        )
    if operation.dry_run:
        return f"{counted(operation.done, 'job')} would be {DONE[operation.kind]}"
    left = f"; {operation.failed} had changed before" if operation.failed else ""
    return f"{counted(operation.done, 'job')} {DONE[operation.kind]}{left}"
