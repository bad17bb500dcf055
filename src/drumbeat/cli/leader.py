"""`drumbeat leader`: who leads, and who led."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.asked import Asked, AskedLeadership
from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.reasons import reasoned
from drumbeat.cli.session import NOTHING_TO_SEE, Session
from drumbeat.cli.shapes import leader_shape, term_shape
from drumbeat.cli.tables import facts, note, table
from drumbeat.model.duration import parse_duration
from drumbeat.model.lease import SCHEDULER, TERMS_KEPT, Lease, TermRecord
from drumbeat.model.page import PageRequest
from drumbeat.rules.moments import Moments


@click.group("leader", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show who leads; `history` shows who led, `resign` asks the leader to let another lead.

    \b
    Example:
      drumbeat leader
      drumbeat leader history
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    lease = session.ask(lambda app: _elected(app).leader(), of_the_store=False)
    session.output.show(leader_shape(lease), lambda: _leader(lease))


def _elected(app: Asked) -> AskedLeadership:
    """Who answers for an election; instances with a store in memory need a coordinator for one."""
    if app.in_memory and not app.has_coordinator:
        raise Problem(NOTHING_TO_SEE, Exit.USAGE)
    return app.leadership


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
@reasoned
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
        before, after = session.ask(lambda app: _elected(app).resign(patience), of_the_store=False)
    if before is None:
        raise Problem("nobody leads, so nobody can resign", Exit.NOT_FOUND)
    session.output.show(
        {"before": leader_shape(before), "after": leader_shape(after)},
        lambda: (
            f"{before.holder} resigned; "
            + (f"{after.holder} leads" if after else "nobody leads yet")
        ),
    )


@command.command()
@click.option("--election", default=SCHEDULER, show_default=True, metavar="NAME", help="Of what.")
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=TERMS_KEPT),
    default=20,
    show_default=True,
    help="How many terms.",
)
@click.pass_obj
def history(session: Session, election: str, limit: int) -> None:
    """Show who led since when, the latest first.

    \b
    Example:
      drumbeat leader history
    """
    page = session.ask(lambda app: app.leadership.history(PageRequest(limit), election))
    session.output.show(
        [term_shape(term) for term in page.items], lambda: _terms(session, page.items)
    )
    if page.next is not None:
        session.output.say("There are more; --limit shows them.")


def _terms(session: Session, terms: Sequence[TermRecord]) -> RenderableType:
    if not terms:
        return note("Nobody has led yet.")
    moments = Moments(session.output.now, session.output.zone)
    rows = (
        (term.epoch, term.node, moments.both(term.since), term.token, term.domain) for term in terms
    )
    since = f"since ({moments.zone_name})"
    return table((">epoch", "node", since, ">term", "?coordinator"), rows)
