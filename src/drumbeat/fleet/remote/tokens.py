"""The API tokens of a remote fleet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.fleet.remote.request import body_of
from drumbeat.fleet.remote.resource import RemoteResource, reason_header, request_for
from drumbeat.model.fleet.token import Scope
from drumbeat.model.time.instant import aware
from drumbeat.wire.token import MadeTokenView, TokenView


class RemoteTokens(RemoteResource):
    """Implements `FleetTokens`. All of it needs the scope admin."""

    async def create(
        self,
        name: str,
        scope: Scope = Scope.VIEWER,
        expires_at: datetime | None = None,
        reason: str = "",
    ) -> MadeTokenView:
        """Make a token; `TokenNameTaken` if a token that is not revoked has the name.

        This is the only time that its secret is shown.
        """
        until = None if expires_at is None else aware("expires_at", expires_at)
        body = body_of({"name": name, "scope": scope, "expires_at": until})
        headers = reason_header(reason)
        request = request_for("POST", "tokens", body=body, headers=headers, subject=name)
        return await self._send(MadeTokenView, request)

    async def list(self, *, sessions: bool = False) -> Sequence[TokenView]:
        """All tokens, also revoked and expired ones; with `sessions` also those of browsers."""
        query = [("sessions", "true")] if sessions else ()
        return await self._get(list[TokenView], "tokens", query=query)

    async def revoke(self, name_or_id: str, reason: str = "") -> TokenView:
        """Revoke a token; `UnknownToken` if there is none."""
        request = request_for("DELETE", "tokens", name_or_id, headers=reason_header(reason))
        return await self._send(TokenView, request)
