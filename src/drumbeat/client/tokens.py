"""The tokens of the HTTP API, asked of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from drumbeat.client.asking import Noun
from drumbeat.client.request import path_of
from drumbeat.model.instant import aware
from drumbeat.model.token import Scope, TokenRecord
from drumbeat.wire.token import MadeTokenView, TokenView, token_of


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token, and its secret, which nobody can show again."""

    record: TokenRecord
    token: str = field(repr=False)


class Tokens(Noun):
    """Who may use the HTTP API. All of this needs the scope admin."""

    async def create(
        self, name: str, scope: Scope | str = Scope.VIEWER, expires_at: datetime | None = None
    ) -> MadeToken:
        """Make a token; `Conflict` if one that is not revoked has its name."""
        until = None if expires_at is None else aware("expires_at", expires_at)
        body = {"name": name, "scope": scope, "expires_at": until}
        view = (await self._post(path_of("tokens"), body, name)).read(MadeTokenView)
        return MadeToken(token_of(view), view.token)

    async def list(self) -> Sequence[TokenRecord]:
        """All tokens, also those that are over. Their digests are shown to nobody."""
        views = (await self._get(path_of("tokens"))).read(list[TokenView])
        return [token_of(view) for view in views]

    async def revoke(self, name_or_id: str) -> TokenRecord:
        """Let nobody in by a token any more; `NotFound` if there is none."""
        answer = await self._delete(path_of("tokens", name_or_id), name_or_id)
        return token_of(answer.read(TokenView))
