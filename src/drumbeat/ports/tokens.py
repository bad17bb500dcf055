"""The tokens of the HTTP API, as a role of the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from drumbeat.model.token import NameTaken, NewToken, TokenRecord

if TYPE_CHECKING:
    from drumbeat.ports.store import At


class TokenStore(Protocol):
    """Tokens by their digest. They are few, and only sessions of browsers are ever forgotten."""

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        """Know a token from now on, unless one that is not revoked has its name."""
        ...

    async def list(self) -> Sequence[TokenRecord]:
        """All tokens, also those that are over, in the order in which they were added."""
        ...

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        """Let nobody in by a token any more; None: there is none of that name or id.

        A name means the token that is not revoked, else the last one that was. One that is revoked
        already stays as it is.
        """
        ...

    async def find(self, digest: str) -> TokenRecord | None:
        """The token of a digest, also if it is over: `rules.tokens` judges that."""
        ...

    async def prune_sessions(self, before: datetime) -> int:
        """Forget the sessions of browsers that were revoked or expired before an instant.

        Returns how many. `rules.tokens` says which tokens are sessions. Idempotent.
        """
        ...

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        """Note that tokens were used: many at once, and not at each use. It never goes back."""
        ...
