"""The parts of a store for operators: the audit log, the queues and the API tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
    from drumbeat.model.fleet.token import NameTaken, NewToken, TokenRecord
    from drumbeat.model.jobs.queue import PausedQueue, Queues
    from drumbeat.model.page import Page, PageRequest
    from drumbeat.ports.store import At


class AuditLog(Protocol):
    """Who changed what. A change on request is recorded first and then made.

    So every change has an entry. A change whose entry has no outcome may or may not have been made.
    """

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        """Record a change that is about to be made. It may be made only after this has returned.

        Raises `InvalidInput` and writes nothing if the details cannot be written as JSON.
        """
        ...

    async def conclude(self, entry_id: int, outcome: str) -> None:
        """Record the outcome. The first outcome stands; a pruned entry is not written again."""
        ...

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        """Entries that match every given field of the filter, newest first."""
        ...


class QueueStore(Protocol):
    """The queues that jobs wait in."""

    async def list(self, at: At = None) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        ...

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Stop claiming jobs of a queue. Running jobs go on; new ones wait.

        After this has returned, no `take` of any node claims a job of the queue or cancels one for
        its limit. Pausing a paused queue changes only the reason. A queue without jobs may be
        paused too.
        """
        ...

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of the queue again, and wake workers; None: it was not paused."""
        ...


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
        """Delete sessions (see `rules.tokens`) that ended before an instant; return how many."""
        ...

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        """Record that tokens were used. Callers batch this; the recorded time never goes back."""
        ...
