"""Tokens: make, list, revoke. Only for those who may do everything."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.answer import Listed
from drumbeat.api.call import Call, Nothing
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import about
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.engine.tokens import new_token
from drumbeat.model.token import NAME_LIMIT, NameTaken, NewToken, Scope
from drumbeat.rules.tokens import check_name, digest_of, is_session
from drumbeat.wire.fields import Instant, check_instants
from drumbeat.wire.token import MadeTokenView, TokenView, made_token_view, token_view


class NewTokenView(Struct, kw_only=True, forbid_unknown_fields=True):
    """A token to make."""

    name: Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT)]
    """What people call it, and the audit log too."""
    scope: Scope
    """How far it reaches; each scope holds all those before it."""
    expires_at: Instant | None = None
    """When it lets nobody in any more; null: never."""

    def __post_init__(self) -> None:
        check_instants(expires_at=self.expires_at)


class TokenQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which tokens are wanted."""

    sessions: bool = False
    """Also the sessions of browsers."""


async def make(call: Call[Nothing, NewTokenView]) -> MadeTokenView:
    """A new token. The answer is the only place that ever shows it."""
    wanted, token = call.body, new_token()
    now = call.desk.runtime.clock.now()
    if wanted.expires_at is not None and wanted.expires_at <= now:
        rule = f"later than now, {now.isoformat(timespec='seconds')}"
        said = f"expires_at is {wanted.expires_at.isoformat()}, and has to be {rule}"
        raise Problem(422, "invalid-input", said, field="expires_at", rule=rule)
    with about("name"):
        check_name(wanted.name)
        new = NewToken(wanted.name, digest_of(token), wanted.scope, wanted.expires_at)
        made = await call.desk.store.tokens.add(new)
    if isinstance(made, NameTaken):
        raise Problem(
            409,
            "name-taken",
            f"a token named {made.name!r} is in use; revoke it, or take another name",
            field="name",
        )
    call.gate.keys.made_one()
    return made_token_view(made, token)


async def list_tokens(call: Call[TokenQuery, Any]) -> Listed:
    """All tokens, also those that are over."""
    records = await call.desk.store.tokens.list()
    return Listed(
        [token_view(each) for each in records if call.query.sessions or not is_session(each)]
    )


async def revoke(call: Call[Nothing, Any]) -> TokenView:
    """Let nobody in by a token any more."""
    named = call.path["name"]
    record = await call.desk.store.tokens.revoke(named)
    if record is None:
        raise Problem(404, "unknown-token", f"no token has the name or the id {named!r}")
    call.gate.keys.forget(record.digest)
    return token_view(record)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/tokens",
        Scope.ADMIN,
        make,
        "Make a token",
        MadeTokenView,
        status=201,
        refuses=(409,),
        body=NewTokenView,
        change="token.create",
    ),
    Route(
        "GET",
        "/tokens",
        Scope.ADMIN,
        list_tokens,
        "List the tokens",
        list[TokenView],
        query=TokenQuery,
    ),
    Route(
        "DELETE",
        "/tokens/{name}",
        Scope.ADMIN,
        revoke,
        "Revoke a token, by its name or its id",
        TokenView,
        refuses=(404,),
        change="token.revoke",
    ),
)
