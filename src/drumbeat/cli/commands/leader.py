"""`drumbeat leader`: who leads, and who led."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.options.limit import limit_option, show_list
from drumbeat.cli.options.option import REASON, text
from drumbeat.cli.output.tables import facts, note, table
from drumbeat.cli.session.session import Session
from drumbeat.model.fleet.lease import SCHEDULER, TERMS_KEPT
from drumbeat.model.time.duration import parse_duration
from drumbeat.rules.human_time import Moments
from drumbeat.wire.election import ElectionView, LeaderView, TermView


@click.group("leader", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show who leads; `history` shows who led, `resign` asks the leader to hand over.

    Example:
      drumbeat leader
      drumbeat leader history
    """
    if ctx.invoked_subcommand is None:
        session = ctx.ensure_object(Session)
        election = session.ask_election(lambda fleet: fleet.elections.get())
        session.output.show(_leader_view(election), _leader(election))


command.operations = ("elections.get",)


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


@command.verb("list", uses="elections.list")
def list_elections(session: Session) -> None:
    """List the elections and their leaders.

    Example:
      drumbeat leader list
    """
    found = session.ask_election(lambda fleet: fleet.elections.list())
    rows = [(each.name, each.leader, each.token, each.epoch) for each in found]
    session.output.show(found, table(("election", "leader", ">term", ">epoch"), rows))


@command.verb(
    "resign",
    text("--timeout", "DURATION", "The longest time to wait.", default="15s"),
    REASON,
    uses="elections.resign",
)
def resign(session: Session, timeout: str) -> None:
    """Ask the leader to hand over to another node, and wait for it.

    The node itself keeps running; it only lets other nodes lead first.

    Example:
      drumbeat leader resign
    """
    seconds = parse_duration(timeout).total_seconds()
    with session.output.working("Waiting for another leader"):
        view = session.ask_election(
            lambda fleet: fleet.elections.resign(SCHEDULER, seconds, session.reason)
        )
    leads = f"{view.after.leader} leads" if view.after.leader else "nobody leads yet"
    session.output.show(view, f"{view.before.leader} resigned; {leads}")


@command.verb(
    "history",
    text("--election", "NAME", "The election.", default=SCHEDULER),
    limit_option(20, TERMS_KEPT),
    uses="elections.history",
)
def history(session: Session, election: str, limit: int) -> None:
    """Show who led since when, the latest first.

    Example:
      drumbeat leader history
    """
    show_list(session, limit, lambda fleet, page: fleet.elections.history(election, page), _terms)


def _terms(moments: Moments, terms: Sequence[TermView]) -> RenderableType:
    rows = (
        (term.epoch, term.node, moments.both(term.since), term.token, term.domain) for term in terms
    )
    since = f"since ({moments.zone_name})"
    return table((">epoch", "node", since, ">term", "?coordinator"), rows, "Nobody has led yet.")
