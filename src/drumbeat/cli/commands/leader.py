"""`drumbeat leader`: who leads, and who led."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group, operations
from drumbeat.cli.options.limit import limit_option, show_list
from drumbeat.cli.options.reason import reason_option
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.output.tables import facts, note, table
from drumbeat.cli.session.session import Session
from drumbeat.model.fleet.lease import SCHEDULER, TERMS_KEPT
from drumbeat.model.time.duration import parse_duration
from drumbeat.rules.human_time import Moments
from drumbeat.wire.election import ElectionView, LeaderView, TermView


@click.group("leader", cls=Group, invoke_without_command=True)
@operations("elections.get")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show who leads; `history` shows who led, `resign` asks the leader to hand over.

    \b
    Example:
      drumbeat leader
      drumbeat leader history
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    target = session.target()
    target.check_election()
    election = session.run(target, lambda fleet: fleet.elections.get())
    session.output.show(as_json(_leader_view(election)), lambda: _leader(election))


def _leader_view(election: ElectionView) -> LeaderView:
    return LeaderView(
        leader=election.leader,
        election=election.name if election.leader else None,
        token=election.token,
        ttl_seconds=election.ttl_seconds,
        domain=election.domain,
    )


def _leader(election: ElectionView) -> RenderableType:
    if election.leader is None:
        return note("Nobody leads.")
    return facts(
        (
            ("leader", election.leader),
            ("election", election.name),
            ("term", election.token),
            ("lease", f"{election.ttl_seconds:g} s"),
        )
    )


@command.command("list")
@operations("elections.list")
@click.pass_obj
def list_elections(session: Session) -> None:
    """List the elections and their leaders.

    \b
    Example:
      drumbeat leader list
    """
    target = session.target()
    target.check_election()
    found = session.run(target, lambda fleet: fleet.elections.list())
    rows = [(each.name, each.leader, each.token, each.epoch) for each in found]
    session.output.show(
        as_json(found), lambda: table(("election", "leader", ">term", ">epoch"), rows)
    )


@command.command()
@click.option(
    "--timeout",
    default="15s",
    show_default=True,
    metavar="DURATION",
    help="The longest time to wait.",
)
@reason_option
@operations("elections.resign")
@click.pass_obj
def resign(session: Session, timeout: str) -> None:
    """Ask the leader to hand over to another node, and wait for it.

    The node itself keeps running; it only lets other nodes lead first.

    \b
    Example:
      drumbeat leader resign
    """
    seconds = parse_duration(timeout).total_seconds()
    target = session.target()
    target.check_election()
    with session.output.working("Waiting for another leader"):
        view = session.run(
            target, lambda fleet: fleet.elections.resign(SCHEDULER, seconds, session.reason)
        )
    leads = f"{view.after.leader} leads" if view.after.leader else "nobody leads yet"
    session.output.show(as_json(view), lambda: f"{view.before.leader} resigned; {leads}")


@command.command()
@click.option(
    "--election", default=SCHEDULER, show_default=True, metavar="NAME", help="The election."
)
@limit_option(20, TERMS_KEPT)
@operations("elections.history")
@click.pass_obj
def history(session: Session, election: str, limit: int) -> None:
    """Show who led since when, the latest first.

    \b
    Example:
      drumbeat leader history
    """
    show_list(session, limit, lambda fleet, page: fleet.elections.history(election, page), _terms)


def _terms(moments: Moments, terms: Sequence[TermView]) -> RenderableType:
    if not terms:
        return note("Nobody has led yet.")
    rows = (
        (term.epoch, term.node, moments.both(term.since), term.token, term.domain) for term in terms
    )
    since = f"since ({moments.zone_name})"
    return table((">epoch", "node", since, ">term", "?coordinator"), rows)
