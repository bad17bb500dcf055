"""Many jobs at once: `drumbeat job retry --status failed`, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from drumbeat.cli.asked import Asked
from drumbeat.cli.exits import Problem
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import operation_shape
from drumbeat.cli.watching import watch
from drumbeat.model.job import JobFilter, Status
from drumbeat.model.operation import Kind, Operation
from drumbeat.model.wording import counted
from drumbeat.rules.moments import Moments

F = TypeVar("F", bound=Callable[..., Any])

JOB_ID = click.argument("job_id", type=click.IntRange(min=1), metavar="[ID]", required=False)
DONE = {Kind.RETRY: "queued again", Kind.CANCEL: "cancelled"}
FIELDS = ("task", "queue", "schedule", "tag")


@dataclass(frozen=True, slots=True)
class Bulk:
    """What the options say of many jobs; nothing if one job is meant."""

    wanted: JobFilter
    everything: bool
    dry_run: bool
    waits: bool

    @property
    def given(self) -> bool:
        """Whether many jobs are meant."""
        return self.everything or self.wanted != JobFilter()


def bulk_options(function: F) -> F:
    """Give a command an optional ID, and the options that choose many jobs in its place."""

    @wraps(function)
    def called(*, job_id: int | None, **given: Any) -> Any:
        bulk = _bulk(click.get_current_context().ensure_object(Session), given)
        if (job_id is None) is not bulk.given:
            raise click.UsageError("give the ID of one job, or options such as --status and --task")
        return function(job_id=job_id, bulk=bulk, **given)

    decorated: Any = called
    for option in reversed(_declared()):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]  # click gives back what it was given


def _declared() -> list[Callable[[Any], Any]]:
    statuses = click.Choice([status.value for status in Status])
    return [
        JOB_ID,
        click.option("--status", "statuses", multiple=True, type=statuses, help="All of these."),
        click.option("--task", metavar="NAME", help="All of this task."),
        click.option("--queue", metavar="NAME", help="All of this queue."),
        click.option("--schedule", metavar="NAME", help="All of this schedule."),
        click.option("--tag", metavar="TAG", help="All with this tag."),
        click.option("--since", metavar="TIME", help="All submitted since then, such as -2h."),
        click.option("--all", "everything", is_flag=True, help="All, without any restriction."),
        click.option("--dry-run", is_flag=True, help="Only count them."),
        click.option("--no-wait", "leaves", is_flag=True, help="Do not wait for the end."),
    ]


def _bulk(session: Session, given: dict[str, Any]) -> Bulk:
    since = given.pop("since")
    moments = Moments(session.output.now, session.output.zone)
    wanted = JobFilter(
        statuses=frozenset(Status(status) for status in given.pop("statuses")),
        created_from=moments.read(since) if since else None,
        **{name: given.pop(name) for name in FIELDS},
    )
    everything, dry_run, leaves = (given.pop(name) for name in ("everything", "dry_run", "leaves"))
    return Bulk(wanted, everything, dry_run, not leaves)


def change_many(session: Session, kind: Kind, bulk: Bulk, reason: str = "") -> None:
    """Have the leader change many jobs, and tell how it goes on."""

    async def ask(app: Asked) -> Operation:
        begin = app.operations.retry if kind is Kind.RETRY else app.operations.cancel_jobs
        operation = await begin(
            bulk.wanted, reason, everything=bulk.everything, dry_run=bulk.dry_run
        )
        if await app.leadership.leader() is None:
            session.output.say("Nobody leads: it begins once a node with the role scheduler runs.")
        if bulk.waits:
            await watch(app, operation.id, session.output, None)
        return await app.operations.get(operation.id)

    operation = session.ask(ask)
    session.output.show(operation_shape(operation), lambda: _told(operation))
    if operation.status in (Status.FAILED, Status.CANCELLED):
        why = f": {operation.error}" if operation.error else ""
        raise Problem(f"operation {operation.id} {operation.status}{why}")


def _told(operation: Operation) -> str:
    if not operation.status.final:
        number = operation.id
        return (
            f"operation {number} is {operation.status}; `drumbeat job wait {number}` waits for it"
        )
    if operation.dry_run:
        return f"{counted(operation.done, 'job')} would be {DONE[operation.kind]}"
    left = f"; {operation.failed} had changed before" if operation.failed else ""
    return f"{counted(operation.done, 'job')} {DONE[operation.kind]}{left}"
