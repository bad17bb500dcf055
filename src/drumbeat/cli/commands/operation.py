"""`drumbeat operation`: changes of many jobs, made by the leader in the background."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.options.limit import limit_option, show_list
from drumbeat.cli.options.option import REASON
from drumbeat.cli.output.tables import facts, table
from drumbeat.cli.session.session import Session
from drumbeat.rules.human_time import Moments
from drumbeat.wire.operation import OperationView

OPERATION_ID = click.argument("operation_id", type=click.IntRange(min=1), metavar="ID")


@click.group("operation", cls=Group)
def command() -> None:
    """List, show and cancel operations: the bulk changes of `job retry` and `job cancel`.

    Example:
      drumbeat operation list
    """


@command.verb("list", limit_option(20), uses="operations.list")
def list_operations(session: Session, limit: int) -> None:
    """List operations, the newest first.

    Example:
      drumbeat operation list
    """
    show_list(session, limit, lambda fleet, page: fleet.operations.list(page), _operations)


@command.verb("show", OPERATION_ID, uses="operations.get")
def show(session: Session, operation_id: int) -> None:
    """Show the operation ID and its progress.

    Example:
      drumbeat operation show 42
    """
    found = session.ask(lambda fleet: fleet.operations.get(operation_id))
    session.output.show(found, _operation(session.output.moments, found))


@command.verb("cancel", OPERATION_ID, REASON, uses="operations.cancel")
def cancel(session: Session, operation_id: int) -> None:
    """Cancel the operation ID. What it has done stays done.

    Example:
      drumbeat operation cancel 42
    """
    found = session.ask(lambda fleet: fleet.operations.cancel(operation_id, session.reason))
    session.output.show(found, _operation(session.output.moments, found))


def _operations(moments: Moments, found: Sequence[OperationView]) -> RenderableType:
    rows = (
        (each.id, each.kind, each.status, _done(each), moments.both(each.created_at), each.reason)
        for each in found
    )
    titles = (">id", "kind", "status", ">jobs", f"created ({moments.zone_name})", "+reason")
    return table(titles, rows, "There are no operations.")


def _operation(moments: Moments, operation: OperationView) -> RenderableType:
    return facts(
        (
            ("operation", operation.id),
            ("kind", f"{operation.kind}{', dry run' if operation.dry_run else ''}"),
            ("status", operation.status),
            ("jobs", _done(operation)),
            ("reason", operation.reason or None),
            ("created", moments.stamped(operation.created_at)),
            ("error", operation.error),
        )
    )


def _done(operation: OperationView) -> str:
    return f"{operation.done}" if operation.total is None else f"{operation.done}/{operation.total}"
