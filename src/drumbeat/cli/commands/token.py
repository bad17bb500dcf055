"""`drumbeat token`: the tokens of the HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click
from rich.console import RenderableType

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import NAME, REASON, choice, text
from drumbeat.cli.output.json_view import as_json
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.fleet.token import Scope
from drumbeat.model.time.duration import parse_duration
from drumbeat.rules.human_time import Moments
from drumbeat.wire.token import MadeTokenView, TokenView

ONCE = "This is the only time that the token is shown; only a digest of it is stored."


@click.group("token", cls=Group)
def command() -> None:
    """Create, list and revoke the tokens of the HTTP API.

    Example:
      drumbeat token create ci --scope submitter
    """


@command.verb(
    "create",
    NAME,
    choice(
        "--scope", Scope, "What it allows; each scope includes those before it.", default="viewer"
    ),
    text("--expires-in", "DURATION", "How long it is valid, such as 90d."),
    REASON,
    uses="tokens.create now",
)
def create(session: Session, name: str, scope: str, expires_in: str | None) -> None:
    """Create a token, and print it. It cannot be shown again.

    Example:
      drumbeat token create ci --scope submitter --expires-in 90d
    """
    lifetime = None if expires_in is None else parse_duration(expires_in)
    if lifetime is not None and not lifetime:
        raise Problem("--expires-in must be longer than zero", Exit.USAGE)

    async def ask(fleet: Fleet) -> MadeTokenView:
        expires_at = None if lifetime is None else await fleet.now() + lifetime
        return await fleet.tokens.create(name, Scope(scope), expires_at, session.reason)

    made = session.ask_or_create(ask)
    session.output.say(ONCE)
    session.output.show(_data(made, session.output.now), made.token)


@command.verb("list", uses="tokens.list now")
def list_tokens(session: Session) -> None:
    """List all tokens, also revoked and expired ones, without their secrets.

    Example:
      drumbeat token list
    """

    async def ask(fleet: Fleet) -> tuple[Sequence[TokenView], datetime]:
        return await fleet.tokens.list(), await fleet.now()

    tokens, now = session.ask(ask)
    moments = Moments(now, session.output.zone)
    session.output.show([_data(token, now) for token in tokens], _tokens(moments, tokens))


@command.verb(
    "revoke", click.argument("name_or_id", metavar="NAME|ID"), REASON, uses="tokens.revoke"
)
def revoke(session: Session, name_or_id: str) -> None:
    """Revoke a token, so that it is no longer accepted.

    Example:
      drumbeat token revoke ci
    """
    token = session.ask(lambda fleet: fleet.tokens.revoke(name_or_id, session.reason))
    data = _data(token, session.output.now)
    session.output.show(data, f"The token {token.name} is revoked.")


def _data(token: TokenView, now: datetime) -> dict[str, Any]:
    return {**as_json(token), "state": _state(token, now)}


def _state(token: TokenView, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.expires_at is not None and token.expires_at <= now else "active"


def _tokens(moments: Moments, tokens: Sequence[TokenView]) -> RenderableType:
    rows = (
        (
            token.id,
            token.name,
            token.scope,
            _state(token, moments.now),
            moments.distance(token.last_used_at),
            moments.distance(token.expires_at),
            moments.show(token.created_at),
        )
        for token in tokens
    )
    created = f"?created ({moments.zone_name})"
    return table(
        (">id", "name", "scope", "state", "used", "?expires", created), rows, "There are no tokens."
    )
