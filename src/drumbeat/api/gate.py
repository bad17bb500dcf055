"""The gate: who may pass, and the account of what they changed.

Closed by default. A caller is known by the token in the Authorization header, by the session of a
browser, or by the word of a trusted proxy, which alone lets nobody do more than look. Where no
token was ever made and only this machine can reach us, whoever is on it may do everything.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from drumbeat.api.accounts import Accounts
from drumbeat.api.attempts import Attempts
from drumbeat.api.call import ANYBODY, Call, Caller
from drumbeat.api.desk import Desk
from drumbeat.api.keys import MOST, Keys
from drumbeat.api.origins import ORIGINS, check_origin
from drumbeat.api.peer import Headers, Peer, Proxies, came_through_a_proxy, is_loopback
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.sessions import Sessions, cookie_of
from drumbeat.engine.patience import within
from drumbeat.model.errors import ConfigurationError, DrumbeatError, Unavailable
from drumbeat.model.token import Scope
from drumbeat.rules.tokens import (
    Admission,
    Admitted,
    Expired,
    Revoked,
    digest_of,
    is_session,
)

log = logging.getLogger("drumbeat.api")

CHALLENGE = {"www-authenticate": 'Bearer realm="drumbeat"'}
OPEN_PATIENCE = 1.0
"""Seconds that a look at who asks may take where anybody may ask."""
LONGEST_TOKEN = 500

INSECURE = Caller("anybody (insecure)", Scope.ADMIN)
LOCAL = Caller("somebody on this machine", Scope.ADMIN)


class Gate:
    """Lets callers pass by their scope."""

    def __init__(self, desk: Desk, *, local: bool = False) -> None:
        """`local`: only this machine can reach the door."""
        config, clock = desk.config, desk.runtime.clock
        self._clock = clock
        self._local = local
        self._trusts_this_machine = local and not config.trusted_proxies
        """Whether whoever is on it may do everything before the first token is made; what comes
        from a proxy on it may come from anywhere."""
        self._insecure = config.insecure
        self._read_only = config.read_only
        self._proxies = Proxies(config.trusted_proxies)
        self._attempts = Attempts(clock)
        self._accounts = Accounts(desk.store)
        self.keys = Keys(desk.store, config, clock)
        self.sessions = Sessions(desk.store, self.keys, clock)

    async def check(self, address: str) -> None:
        """Refuse to open a door to others behind which nobody is asked who they are."""
        if self._insecure:
            log.warning("The HTTP API is insecure: whoever reaches %s may do everything", address)
        elif self._proxies or await self.keys.any_live():
            return
        elif not self._local:
            raise ConfigurationError(
                f"http_addr {address!r} can be reached from other machines, and there is no token: "
                f"make one with `drumbeat token create`, set DRUMBEAT_API_TOKEN, listen at "
                f"127.0.0.1, or say --insecure if everybody may do everything"
            )
        elif not await self.keys.any_known():
            log.warning(
                "The HTTP API has no token: whoever is on this machine may do everything at %s "
                "until the first `drumbeat token create`",
                address,
            )

    async def close(self) -> None:
        """Note what has not been noted yet."""
        await self.keys.note()

    async def admit(
        self, route: AnyRoute, connection: MutableMapping[str, Any], headers: Headers
    ) -> Caller:
        """Who asks; a `Problem` if they may not."""
        if route.scope is None:
            return await self._anybody(route, connection, headers) if route.tells_more else ANYBODY
        if self._read_only and route.changes:
            raise Problem(
                403,
                "read-only",
                "this server changes nothing: its setting read_only is true",
            )
        caller = self._believed(headers)
        if caller is None:
            caller = await self._looked_up(route, connection, headers)
        if not route.safe and (caller.session is not None or ORIGINS & headers.keys()):
            peer = self._proxies.peer(connection, headers)
            check_origin(peer, headers, needed=caller.session is not None)
        if not caller.may(route.scope):
            raise Problem(
                403,
                "scope-too-low",
                f"this needs the scope {route.scope}, and {caller.name} has {caller.scope}",
                rule=f"at least {route.scope}",
            )
        return caller

    async def accounted(
        self,
        route: AnyRoute,
        call: Call[Any, Any],
        handle: Callable[[Call[Any, Any]], Awaitable[Any]],
    ) -> Any:
        """What the route answers, with an entry in the audit log if it changes something."""
        if route.change is None:
            return await handle(call)
        return await self._accounts.accounted(route, call, handle)

    async def still_admits(self, call: Call[Any, Any]) -> bool:
        """Whether whoever asked may still look. While the store is away nobody can tell: yes."""
        try:
            caller = self._believed(call.headers)
            if caller is None:
                caller = await self._known(self.peer(call.connection, call.headers), call.headers)
        except Problem as problem:
            return problem.status not in (401, 403)
        except DrumbeatError:
            return True
        return caller.may(Scope.VIEWER)

    def peer(self, connection: MutableMapping[str, Any], headers: Headers) -> Peer:
        """Who is at the other end of a connection."""
        return self._proxies.peer(connection, headers)

    async def by_token(self, peer: Peer, token: str) -> Admitted:
        """What a token is; a `Problem` if it lets nobody in."""
        if len(token) > LONGEST_TOKEN:
            raise self._refusal(peer, "nobody knows this token")
        verdict: Admission = await self.keys.judge(digest_of(token))
        if isinstance(verdict, Admitted) and not is_session(verdict.token):
            return verdict
        raise self._refusal(peer, _why(verdict))

    async def _looked_up(
        self, route: AnyRoute, connection: MutableMapping[str, Any], headers: Headers
    ) -> Caller:
        """Who asks, as the store has it; while that is away and it is enough, as it had it."""
        peer = self._proxies.peer(connection, headers)
        if not route.without_store:
            return await self._known(peer, headers)
        try:
            async with within(self._clock, OPEN_PATIENCE):
                return await self._known(peer, headers)
        except (Unavailable, TimeoutError) as away:
            caller = self._remembered(peer, headers)
            if caller is None:
                raise Unavailable(
                    "the store does not answer, so nobody can tell who asks"
                ) from away
            return caller

    async def _anybody(
        self, route: AnyRoute, connection: MutableMapping[str, Any], headers: Headers
    ) -> Caller:
        """Who asks, where it only matters for the details."""
        try:
            return await self._looked_up(route, connection, headers)
        except (Problem, DrumbeatError):
            return ANYBODY

    def _believed(self, headers: Headers) -> Caller | None:
        """Who bears a token that was believed a moment ago; None: more has to be looked at."""
        authorization = headers.get(b"authorization")
        if authorization is None or self._insecure or self._proxies:
            return None
        admitted = self.keys.recent(digest_of(_bearer(authorization)[:LONGEST_TOKEN]))
        if admitted is None or is_session(admitted.token):
            return None
        return _caller(admitted.token.name, admitted.token.scope)

    async def _known(self, peer: Peer, headers: Headers) -> Caller:
        if self._insecure:
            return INSECURE
        authorization = headers.get(b"authorization")
        if authorization is not None:
            admitted = await self.by_token(peer, _bearer(authorization))
            return _named(Caller(admitted.token.name, admitted.scope), peer)
        cookie = cookie_of(headers)
        if cookie is not None:
            return await self._by_cookie(peer, cookie)
        if peer.user is not None:
            return Caller(peer.user, Scope.VIEWER)
        if self._trusts_this_machine and not await self.keys.any_known():
            return _on_this_machine(peer, headers)
        raise Problem(
            401,
            "token-missing",
            "send a token as `Authorization: Bearer ...`; `drumbeat token create` makes one",
            headers=CHALLENGE,
        )

    def _remembered(self, peer: Peer, headers: Headers) -> Caller | None:
        """Who was let in before, while nobody can look at the store."""
        authorization, cookie = headers.get(b"authorization"), cookie_of(headers)
        if authorization is not None:
            admitted = self.keys.remembered(digest_of(_bearer(authorization)))
            if admitted is None or is_session(admitted.token):
                return None
            return _named(Caller(admitted.token.name, admitted.scope), peer)
        if cookie is not None:
            known = self.sessions.remembered(cookie)
            return known and _named(Caller(known[0].token.name, known[0].scope, known[1]), peer)
        if self._trusts_this_machine and self.keys.none_remembered:
            return _on_this_machine(peer, headers)
        return None

    async def _by_cookie(self, peer: Peer, cookie: str) -> Caller:
        verdict, session = await self.sessions.judge(cookie)
        if isinstance(verdict, Admitted) and session is not None:
            return _named(Caller(verdict.token.name, verdict.scope, session), peer)
        raise self._refusal(peer, "the session is over; log in again")

    def _refusal(self, peer: Peer, why: str) -> Problem:
        """The refusal of a credential; too many from one address are not even told why.

        Credentials are looked up first: the failures of others at the same address, for instance
        behind one proxy, must not keep those out who have a valid one.
        """
        self._attempts.check(peer.address)
        self._attempts.failed(peer.address)
        return Problem(401, "token-refused", why, headers=CHALLENGE)


@lru_cache(maxsize=MOST)
def _caller(name: str, scope: Scope) -> Caller:
    return Caller(name, scope)


def _bearer(authorization: bytes) -> str:
    kind, _, token = authorization.decode("latin-1").strip().partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise Problem(
            401,
            "token-missing",
            "the Authorization header has to be `Bearer` and a token",
            headers=CHALLENGE,
        )
    return token.strip()


def _named(caller: Caller, peer: Peer) -> Caller:
    """The caller, by the name of the person if a trusted proxy tells it."""
    if peer.user is None:
        return caller
    return replace(caller, name=f"{peer.user} ({caller.name})")


def _on_this_machine(peer: Peer, headers: Mapping[bytes, bytes]) -> Caller:
    """Whoever reaches a door that only this machine has; a page of others must not come in so."""
    if came_through_a_proxy(headers):
        raise Problem(
            401,
            "token-missing",
            "this came through a proxy, so nobody knows from where: make a token with "
            "`drumbeat token create`",
            headers=CHALLENGE,
        )
    if not is_loopback(peer.host):
        raise Problem(
            403,
            "foreign-host",
            f"without a token this server answers only to localhost, not to {peer.host!r}",
            field="host",
        )
    return LOCAL


def _why(verdict: object) -> str:
    match verdict:
        case Revoked(token=token):
            return f"the token {token.name!r} was revoked"
        case Expired(token=token):
            return f"the token {token.name!r} has expired"
        case _:
            return "nobody knows this token"
