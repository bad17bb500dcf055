"""`drumbeat token`: who may use the HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click
from rich.console import RenderableType

from drumbeat.cli.asked import Asked
from drumbeat.cli.command import Group
from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.reasons import reasoned
from drumbeat.cli.session import Session
from drumbeat.cli.shapes import token_shape
from drumbeat.cli.tables import note, table
from drumbeat.model.duration import parse_duration
from drumbeat.model.token import NameTaken, Scope, TokenRecord
from drumbeat.rules.moments import Moments
from drumbeat.rules.tokens import Admitted, Expired, Revoked, judged

ONCE = "This is the only time that the token is shown; only a digest of it is kept."


@click.group("token", cls=Group)
def command() -> None:
    """Make, list and revoke the tokens of the HTTP API.

    \b
    Example:
      drumbeat token create ci --scope submitter
    """


@command.command()
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    default=Scope.VIEWER.value,
    show_default=True,
    help="How far it reaches; each holds those before it.",
)
@click.option("--expires-in", metavar="DURATION", help="How long it lets in, such as 90d.")
@reasoned
@click.pass_obj
def create(session: Session, name: str, scope: str, expires_in: str | None) -> None:
    """Make a token, and print it: this once, since nobody keeps it.

    \b
    Example:
      drumbeat token create ci --scope submitter --expires-in 90d
    """
    lifetime = None if expires_in is None else parse_duration(expires_in)
    if lifetime is not None and not lifetime:
        raise Problem("--expires-in must be longer than zero", Exit.USAGE)
    made = session.ask(lambda app: app.tokens.create(name, Scope(scope), lifetime))
    if isinstance(made, NameTaken):
        raise Problem(
            f"a token named {name!r} exists already; revoke it first, or give another name",
            Exit.CONFLICT,
        )
    record, secret = made
    session.output.say(ONCE)
    now = session.output.now
    session.output.show(
        {**token_shape(record, _state(record, now)), "token": secret}, lambda: secret
    )


@command.command("list")
@click.pass_obj
def list_tokens(session: Session) -> None:
    """List all tokens, also those that are over. The tokens themselves are kept by nobody.

    \b
    Example:
      drumbeat token list
    """

    async def ask(app: Asked) -> tuple[Sequence[TokenRecord], datetime]:
        return await app.tokens.list(), await app.now()

    records, now = session.ask(ask)
    data = [token_shape(record, _state(record, now)) for record in records]
    session.output.show(data, lambda: _tokens(session, records, now))


@command.command()
@click.argument("name_or_id", metavar="NAME|ID")
@reasoned
@click.pass_obj
def revoke(session: Session, name_or_id: str) -> None:
    """Let nobody in by a token any more.

    \b
    Example:
      drumbeat token revoke ci
    """

    async def ask(app: Asked) -> tuple[TokenRecord | None, datetime]:
        return await app.tokens.revoke(name_or_id), await app.now()

    record, now = session.ask(ask)
    if record is None:
        raise Problem(f"no token has the name or the id {name_or_id!r}", Exit.NOT_FOUND)
    session.output.show(
        token_shape(record, _state(record, now)), lambda: f"The token {record.name} is revoked."
    )


def _state(record: TokenRecord, now: datetime) -> str:
    match judged(record, now):
        case Admitted():
            return "active"
        case Expired():
            return "expired"
        case Revoked():
            return "revoked"
        case _:
            return "unknown"


def _tokens(session: Session, records: Sequence[TokenRecord], now: datetime) -> RenderableType:
    if not records:
        return note("There are no tokens.")
    moments = Moments(now, session.output.zone)
    rows = (
        (
            record.id,
            record.name,
            record.scope,
            _state(record, now),
            moments.distance(record.last_used_at),
            moments.distance(record.expires_at),
            moments.show(record.created_at),
        )
        for record in records
    )
    created = f"?created ({moments.zone_name})"
    return table((">id", "name", "scope", "state", "used", "?expires", created), rows)
