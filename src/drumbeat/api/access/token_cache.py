"""Looks tokens up by their digests, and keeps them for a moment."""

from __future__ import annotations

import hmac
from collections.abc import Generator
from contextlib import contextmanager, suppress

from drumbeat.config import Config
from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.model.fleet.token import Scope, TokenRecord
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.rules.tokens import Admission, Admitted, digest_of, judged

FRESH = 5.0
"""Seconds for which a token is cached: a revocation through another node takes so long."""
REMEMBERED = 86_400.0
"""Seconds for which a token is accepted while the store is away, on routes that allow it."""
NOTE_EVERY = 30.0
"""Seconds between two writes of which tokens were used."""
MOST = 1_000
"""The most tokens in the cache."""
SETTING = "api_token"
"""The name of the token in the settings."""


class TokenCache:
    """The token of the settings, and those of the store."""

    def __init__(self, store: Store, config: Config, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._own = None if config.api_token is None else _own(config.api_token, clock)
        self._recent: dict[str, tuple[Admitted, float]] = {}
        self._used: set[int] = set()
        self._noted_at = clock.elapsed()
        self._any: tuple[bool, float] | None = None

    def recent(self, digest: str) -> Admitted | None:
        """The valid token of a digest, if it is cached; else None."""
        own = self._own
        if own is not None and hmac.compare_digest(own.token.digest, digest):
            return own
        known = self._recent.get(digest)
        if known is None:
            return None
        now = self._clock.elapsed()
        if now - known[1] >= FRESH or now - self._noted_at >= NOTE_EVERY:
            return None
        expires_at = known[0].token.expires_at
        if expires_at is not None and expires_at <= self._clock.now():
            return None
        self._used.add(known[0].token.id)
        return known[0]

    async def judge(self, digest: str) -> Admission:
        """Whether the token of a digest is valid."""
        recent = self.recent(digest)
        if recent is not None:
            return recent
        verdict = judged(await self._found(digest), self._clock.now())
        if isinstance(verdict, Admitted):
            self._remember(digest, verdict)
            self._used.add(verdict.token.id)
            if self._clock.elapsed() - self._noted_at >= NOTE_EVERY:
                await self.note()
        else:
            self.forget(digest)
        return verdict

    def remembered(self, digest: str) -> Admitted | None:
        """The cached token of a digest, for when the store is away."""
        if self._own is not None and hmac.compare_digest(self._own.token.digest, digest):
            return self._own
        known = self._recent.get(digest)
        if known is None or self._clock.elapsed() - known[1] >= REMEMBERED:
            return None
        expires_at = known[0].token.expires_at
        return known[0] if expires_at is None or expires_at > self._clock.now() else None

    @property
    def none_remembered(self) -> bool:
        """Whether the store had no token when it was last read."""
        return self._own is None and self._any is not None and not self._any[0]

    async def any_known(self) -> bool:
        """Whether there is or was a token: a revoked or expired one restores no open access."""
        if self._own is not None:
            return True
        now = self._clock.elapsed()
        if self._any is None or (not self._any[0] and now - self._any[1] >= FRESH):
            with _without_address():
                self._any = (bool(await self._store.tokens.list()), now)
        return self._any[0]

    async def any_live(self) -> bool:
        """Whether there is a valid token."""
        if self._own is not None:
            return True
        now = self._clock.now()
        known = await self._store.tokens.list()
        return any(isinstance(judged(record, now), Admitted) for record in known)

    def made_one(self) -> None:
        """Require a token from now on; other nodes find out within seconds."""
        self._any = (True, self._clock.elapsed())

    def forget(self, digest: str) -> None:
        """Remove a token from the cache by its digest."""
        self._recent.pop(digest, None)

    def forget_token(self, token_id: int) -> None:
        """Remove a token from the cache by its id."""
        for digest, (admitted, _) in list(self._recent.items()):
            if admitted.token.id == token_id:
                self.forget(digest)

    async def note(self) -> None:
        """Write which tokens were used. A failure is ignored."""
        used, self._used = self._used, set()
        self._noted_at = self._clock.elapsed()
        if used:
            with suppress(DrumbeatError):
                await self._store.tokens.used(sorted(used))

    async def _found(self, digest: str) -> TokenRecord | None:
        with _without_address():
            record = await self._store.tokens.find(digest)
        if record is None or not hmac.compare_digest(record.digest, digest):
            return None
        return record

    def _remember(self, digest: str, admitted: Admitted) -> None:
        if len(self._recent) >= MOST:
            self._recent.clear()
        self._recent[digest] = (admitted, self._clock.elapsed())


@contextmanager
def _without_address() -> Generator[None]:
    """Hide the store's address in errors: the caller is not authenticated."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable("the store does not answer, so the token cannot be checked") from error


def _own(token: str, clock: Clock) -> Admitted:
    return Admitted(TokenRecord(0, SETTING, digest_of(token), Scope.ADMIN, clock.now()))
