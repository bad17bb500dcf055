"""Routes for tokens. They need the scope admin."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.http.call import Call, Nothing
from drumbeat.api.http.route import AnyRoute, Route
from drumbeat.model.fleet.token import NAME_LIMIT, Scope
from drumbeat.wire.fields import Instant, check_instants
from drumbeat.wire.token import MadeTokenView, TokenView


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


async def create(call: Call[Nothing, NewTokenView]) -> MadeTokenView:
    made = await call.fleet.tokens.create(call.body.name, call.body.scope, call.body.expires_at)
    call.access.tokens.made_one()
    return made


async def revoke(call: Call[Nothing, Any]) -> TokenView:
    revoked = await call.fleet.tokens.revoke(call.path["name"])
    call.access.tokens.forget_token(revoked.id)
    return revoked


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/tokens",
        Scope.ADMIN,
        create,
        "Create a token",
        MadeTokenView,
        status=201,
        refuses=(409,),
        body=NewTokenView,
        audited=True,
    ),
    Route(
        "GET",
        "/tokens",
        Scope.ADMIN,
        lambda call: call.fleet.tokens.list(sessions=call.query.sessions),
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
        audited=True,
    ),
)
