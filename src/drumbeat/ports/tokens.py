"""The API tokens of a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from drumbeat.model.fleet.token import NameTaken, NewToken, TokenRecord

if TYPE_CHECKING:
    from drumbeat.ports.store import At


class TokenStore(Protocol):
    """Tokens by their digest. Only browser sessions are ever deleted."""

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        """Add a token, unless another one with this name is not revoked."""
        ...

    async def list(self) -> Sequence[TokenRecord]:
        """All tokens, also revoked and expired ones, in the order in which they were added."""
        ...

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        """Revoke a token; None: no token has that name or id.

        A name means the token that is not revoked, else the one that was revoked last. Revoking a
        revoked token changes nothing.
        """
        ...

    async def find(self, digest: str) -> TokenRecord | None:
        """The token of a digest, also a revoked or expired one: `rules.tokens` checks that."""
        ...

    async def prune_sessions(self, before: datetime) -> int:
        """Delete browser sessions that were revoked or expired before an instant; return how many.

        `rules.tokens` says which tokens are sessions.
        """
        ...

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        """Record that tokens were used. Callers batch this; the recorded time never goes back."""
        ...
