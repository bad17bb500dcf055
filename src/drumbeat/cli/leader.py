"""`drumbeat leader`: who leads."""

from __future__ import annotations

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.resigning import ask_to_resign
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import leader_shape
from drumbeat.cli.tables import facts, note
from drumbeat.model.duration import parse_duration
from drumbeat.model.lease import Lease


@click.group("leader", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show who leads; `leader resign` asks the leader to let another lead.

    \b
    Example:
      drumbeat leader
      drumbeat leader resign
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    lease = session.ask(lambda app: app.leadership.leader())
    session.output.show(leader_shape(lease), lambda: _leader(lease))


def _leader(lease: Lease | None) -> RenderableType:
    if lease is None:
        return note("Nobody leads.")
    return facts(
        (
            ("leader", lease.holder),
            ("election", lease.name),
            ("term", lease.token),
            ("lease", f"{lease.ttl.total_seconds():g} s"),
        )
    )


@command.command()
@click.option(
    "--timeout", default="15s", show_default=True, metavar="DURATION", help="How long to wait."
)
@click.pass_obj
def resign(session: Session, timeout: str) -> None:
    """Ask the leader to let another lead, and wait for it.

    The node itself goes on; it only lets others go first.

    \b
    Example:
      drumbeat leader resign
    """
    patience = parse_duration(timeout).total_seconds()
    with session.output.working("Waiting for another leader"):
        before, after = session.ask(lambda app: ask_to_resign(app, patience))
    if before is None:
        raise Problem("nobody leads, so nobody can resign", Exit.NOT_FOUND)
    session.output.show(
        {"before": leader_shape(before), "after": leader_shape(after)},
        lambda: (
            f"{before.holder} resigned; "
            + (f"{after.holder} leads" if after else "nobody leads yet")
        ),
    )
