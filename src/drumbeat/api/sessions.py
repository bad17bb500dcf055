"""Sessions: how a browser stays logged in.

A session is a token of its own in the store, of the scope of the token that it was opened with, and
for a few hours. So it holds on every node that serves the API, only its digest is kept, and logging
out ends it for good. The cookie names the digest of the token that opened it, and the digest of the
whole is what the store knows: neither can be exchanged, and a session ends with its token.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from http.cookies import CookieError, SimpleCookie

from drumbeat.api.keys import Keys
from drumbeat.api.peer import Headers, text
from drumbeat.engine.tokens import new_token
from drumbeat.model.audit import AuditNote
from drumbeat.model.errors import DrumbeatError, Unavailable
from drumbeat.model.token import NAME_LIMIT, NameTaken, NewToken, TokenRecord
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Store
from drumbeat.rules.tokens import Admission, Admitted, Unknown, digest_of

COOKIE = "drumbeat_session"
LIFETIME = timedelta(hours=12)
KEPT = timedelta(days=1)
"""How long a session that is over is still listed; the next login forgets it then."""
OPENED, ENDED = "session.open", "session.end"
"""What the audit log calls a login and a logout."""


class Sessions:
    """Opens sessions, judges them, ends them."""

    def __init__(self, store: Store, keys: Keys, clock: Clock) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock

    async def open(self, parent: TokenRecord) -> str:
        """The value of a new session's cookie. It is in the audit log before it is opened."""
        note = AuditNote(parent.name, OPENED, parent.name, details={"scope": parent.scope.value})
        entry = await self._store.audit.record(note)
        value = await self._open(parent)
        with suppress(DrumbeatError):  # the session is open: that stands
            await self._store.audit.conclude(entry.id, "done")
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
        """Whether a cookie lets in, as its token does; and the session itself."""
        _, dot, parent = value.rpartition(".")
        if not dot:
            return Unknown(), None
        session = await self._keys.judge(digest_of(value))
        if not isinstance(session, Admitted):
            return session, None
        return await self._keys.judge(parent), session.token

    def remembered(self, value: str) -> tuple[Admitted, TokenRecord] | None:
        """What a cookie was when somebody last looked: for when nobody can look at the store."""
        session = self._keys.remembered(digest_of(value))
        parent = self._keys.remembered(value.rpartition(".")[2])
        return None if session is None or parent is None else (parent, session.token)

    async def end(self, session: TokenRecord, name: str) -> None:
        """Let nobody in by it any more; `name` is whose session it was."""
        entry = await self._store.audit.record(AuditNote(name, ENDED, name))
        await self._store.tokens.revoke(str(session.id))
        with suppress(DrumbeatError):
            await self._store.audit.conclude(entry.id, "done")
        self._keys.forget(session.digest)


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
    """The header that lets a browser keep a session; an empty value ends it."""
    lifetime = int(LIFETIME.total_seconds()) if value else 0
    tail = "; Secure" if secure else ""
    return f"{COOKIE}={value}; Path=/; Max-Age={lifetime}; HttpOnly; SameSite=Strict{tail}"
