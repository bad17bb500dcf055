"""Sessions of browsers.

A session is a token of its own in the store, of the scope of the token that it was opened with, and
for a few hours. So it holds on every node that serves the API, only its digest is kept, and logging
out ends it for good. The cookie names the digest of the token that opened it, and the digest of the
whole is what the store knows: neither can be exchanged, and a session ends with its token.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from http.cookies import CookieError, SimpleCookie

from drumbeat.api.access.peer import text
from drumbeat.api.access.token_cache import TokenCache
from drumbeat.api.http.asgi import Headers
from drumbeat.engine.plumbing.token_secrets import new_token
from drumbeat.fleet.actor import Actor
from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.model.fleet.token import NAME_LIMIT, NameTaken, NewToken, TokenRecord
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.rules.tokens import Admission, Admitted, Unknown, digest_of

COOKIE = "drumbeat_session"
LIFETIME = timedelta(hours=12)
KEPT = timedelta(days=1)
"""How long an ended session stays listed; then the next login removes it."""
OPENED, ENDED = "session.open", "session.end"
"""The actions of a login and a logout in the audit log."""


class Sessions:
    """Opens sessions, judges them, ends them."""

    def __init__(self, store: Store, tokens: TokenCache, clock: Clock) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock

    async def open(self, parent: TokenRecord) -> str:
        """Open a session and return its cookie. It is recorded in the audit log before."""
        trail, scope = AuditTrail(self._store, Actor(parent.name)), {"scope": parent.scope}
        async with trail.change(OPENED, parent.name, request=scope):
            value = await self._open(parent)
        with suppress(DrumbeatError):  # the session is open: that stands
            await self._store.tokens.prune_sessions(self._clock.now() - KEPT)
        return value

    async def _open(self, parent: TokenRecord) -> str:
        value = f"{new_token()}.{parent.digest}"
        digest = digest_of(value)
        ends = self._clock.now() + LIFETIME
        if parent.expires_at is not None:
            ends = min(ends, parent.expires_at)
        name = f"session {digest[:12]} of {parent.name}"[:NAME_LIMIT]
        added = await self._store.tokens.add(NewToken(name, digest, parent.scope, ends))
        if isinstance(added, NameTaken):
            raise Unavailable("the session could not be opened; try again")
        return value

    async def judge(self, value: str) -> tuple[Admission, TokenRecord | None]:
        """Whether the token of a cookie is valid, and the session itself."""
        _, dot, parent = value.rpartition(".")
        if not dot:
            return Unknown(), None
        session = await self._tokens.judge(digest_of(value))
        if not isinstance(session, Admitted):
            return session, None
        return await self._tokens.judge(parent), session.token

    def remembered(self, value: str) -> tuple[Admitted, TokenRecord] | None:
        """The cached state of a cookie, for when the store is away."""
        session = self._tokens.remembered(digest_of(value))
        parent = self._tokens.remembered(value.rpartition(".")[2])
        return None if session is None or parent is None else (parent, session.token)

    async def end(self, session: TokenRecord, name: str) -> None:
        """End a session; `name` is whose it was."""
        async with AuditTrail(self._store, Actor(name)).change(ENDED, name):
            await self._store.tokens.revoke(str(session.id))
        self._tokens.forget(session.digest)


def cookie_of(headers: Headers) -> str | None:
    """The value of our cookie, if there is one."""
    if b"cookie" not in headers:
        return None
    try:
        cookies = SimpleCookie(text(headers, b"cookie"))
    except CookieError:
        return None
    found = cookies.get(COOKIE)
    return None if found is None else found.value


def set_cookie(value: str, *, secure: bool) -> str:
    """The `Set-Cookie` header of a session; an empty value removes the cookie."""
    lifetime = int(LIFETIME.total_seconds()) if value else 0
    tail = "; Secure" if secure else ""
    return f"{COOKIE}={value}; Path=/; Max-Age={lifetime}; HttpOnly; SameSite=Strict{tail}"
