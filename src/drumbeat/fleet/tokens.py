"""The protocol for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.queries import TokenQuery
from drumbeat.wire.token import MadeTokenView, NewTokenView, TokenView


class FleetTokens(Protocol):
    """The tokens of the HTTP API."""

    @endpoint(
        "POST /tokens",
        "Create a token",
        scope=Scope.ADMIN,
        status=201,
        body=NewTokenView,
        refuses=(409,),
    )
    async def create(
        self,
        name: str,
        scope: Scope = Scope.VIEWER,
        expires_at: datetime | None = None,
        reason: str = "",
    ) -> MadeTokenView:
        """Make a token. This is the only time that its secret is shown.

        Raises `TokenNameTaken` if a token that is not revoked has the name.
        """
        ...

    @endpoint("GET /tokens", "List the tokens", scope=Scope.ADMIN, query=TokenQuery)
    async def list(self, *, sessions: bool = False) -> Sequence[TokenView]:
        """All tokens, also revoked and expired ones; with `sessions` also those of browsers."""
        ...

    @endpoint("DELETE /tokens/{name}", "Revoke a token, by its name or its id", scope=Scope.ADMIN)
    async def revoke(self, name_or_id: str, reason: str = "") -> TokenView:
        """Revoke a token. Other nodes may accept it for a few more seconds.

        Raises `UnknownToken` if there is none.
        """
        ...
