"""A token on the wire. Its secret is shown once, when it is made."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct, structs

from drumbeat.model.fleet.token import NAME_LIMIT, Scope, TokenRecord
from drumbeat.wire.fields import Instant, check_instants
from drumbeat.wire.parameters import Parameters


class NewTokenView(Parameters, kw_only=True):
    """A token to make."""

    name: Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT)]
    """Its name, also in the audit log."""
    scope: Scope
    """What it may do; each scope includes those before it."""
    expires_at: Instant | None = None
    """When it expires; null: never."""

    def __post_init__(self) -> None:
        check_instants(expires_at=self.expires_at)


class TokenView(Struct, frozen=True, kw_only=True):
    """A token without its secret."""

    id: int
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None = None
    """When it expires; null: never."""
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """About when it was last used."""


class MadeTokenView(TokenView, frozen=True, kw_only=True):
    """A new token, with its secret. Nobody can show it again."""

    token: str

    def __repr__(self) -> str:
        return f"<MadeTokenView {self.name!r}>"  # logs must not show the secret


def token_view(record: TokenRecord) -> TokenView:
    return TokenView(
        id=record.id,
        name=record.name,
        scope=record.scope,
        created_at=record.created_at,
        expires_at=record.expires_at,
        revoked_at=record.revoked_at,
        last_used_at=record.last_used_at,
    )


def made_token_view(record: TokenRecord, token: str) -> MadeTokenView:
    return MadeTokenView(**structs.asdict(token_view(record)), token=token)
