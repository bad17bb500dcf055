"""Access control: who sends a request, and whether they have the scope for it.

Closed by default. Callers authenticate by a token in the Authorization header or by a browser
session. A trusted proxy may name a user, who is then a viewer. If no token was ever made and only
this machine can reach the listener, everybody on it has all scopes.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache
from typing import Any

from drumbeat.api.access.login_throttle import LoginThrottle
from drumbeat.api.access.origins import ORIGINS, check_origin
from drumbeat.api.access.peer import Peer, Proxies, came_through_a_proxy, is_loopback
from drumbeat.api.access.sessions import Sessions, cookie_of
from drumbeat.api.access.token_cache import MOST, TokenCache
from drumbeat.api.http.asgi import Connection, Headers
from drumbeat.api.http.call import ANYBODY, Call, Caller
from drumbeat.api.http.problem import Problem, unauthorised
from drumbeat.api.http.route import AnyRoute
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.errors import ConfigurationError, DrumbeatError, Unavailable
from drumbeat.model.fleet.token import Scope
from drumbeat.rules.tokens import Admission, Admitted, Expired, Revoked, digest_of, is_session

log = logging.getLogger("drumbeat.api")

OPEN_PATIENCE = 1.0
"""Seconds for authentication on routes to which everybody has access."""
LONGEST_TOKEN = 500

INSECURE = Caller("anybody (insecure)", Scope.ADMIN)
LOCAL = Caller("somebody on this machine", Scope.ADMIN)


class AccessControl:
    """Authenticates callers and checks their scope."""

    def __init__(self, fleet: LocalFleet, *, local: bool = False) -> None:
        """`local`: only this machine can reach the listener."""
        services = fleet.services
        config, clock = services.config, services.runtime.clock
        self._clock = clock
        self._local = local
        self._trusts_this_machine = local and not config.trusted_proxies
        """Whether callers on this machine have all scopes until the first token is made. Behind a
        proxy on it they may come from anywhere."""
        self._insecure = config.insecure
        self._read_only = config.read_only
        self._proxies = Proxies(config.trusted_proxies)
        self._throttle = LoginThrottle(clock)
        self.tokens = TokenCache(services.store, config, clock)
        self.sessions = Sessions(services.store, self.tokens, clock)

    async def check(self, address: str) -> None:
        """Reject a public address if there is no way to authenticate."""
        if self._insecure:
            log.warning(
                "The HTTP API is insecure: everybody who can reach %s may do everything", address
            )
        elif self._proxies or await self.tokens.any_live():
            return
        elif not self._local:
            raise ConfigurationError(
                f"http_addr {address!r} can be reached from other machines, and there is no token: "
                f"make one with `drumbeat token create`, set DRUMBEAT_API_TOKEN, listen at "
                f"127.0.0.1, or give --insecure to let everybody do everything"
            )
        elif not await self.tokens.any_known():
            log.warning(
                "The HTTP API has no token: every user of this machine may do everything at %s "
                "until the first `drumbeat token create`",
                address,
            )

    async def close(self) -> None:
        """Record the last uses of tokens."""
        await self.tokens.note()

    async def admit(self, route: AnyRoute, connection: Connection, headers: Headers) -> Caller:
        """The caller; a `Problem` if they have no access."""
        if route.scope is None:
            return await self._anybody(route, connection, headers) if route.tells_more else ANYBODY
        if self._read_only and route.changes:
            rule = "this server changes nothing: its setting read_only is true"
            raise Problem(403, "read-only", rule)
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

    async def still_admits(self, call: Call[Any, Any]) -> bool:
        """Whether the caller still has access; True while the store is away."""
        try:
            caller = self._believed(call.headers)
            if caller is None:
                caller = await self._known(self.peer(call.connection, call.headers), call.headers)
        except Problem as problem:
            return problem.status not in (401, 403)
        except DrumbeatError:
            return True
        return caller.may(Scope.VIEWER)

    def peer(self, connection: Connection, headers: Headers) -> Peer:
        """Who is at the other end of a connection."""
        return self._proxies.peer(connection, headers)

    async def by_token(self, peer: Peer, token: str) -> Admitted:
        """The token of a caller; a `Problem` if it is not valid."""
        if len(token) > LONGEST_TOKEN:
            raise self._refusal(peer, "the token is not known")
        verdict: Admission = await self.tokens.judge(digest_of(token))
        if isinstance(verdict, Admitted) and not is_session(verdict.token):
            return verdict
        raise self._refusal(peer, _why(verdict))

    async def _looked_up(self, route: AnyRoute, connection: Connection, headers: Headers) -> Caller:
        """The caller by the store; by the cache while that is away, if the route allows it."""
        peer = self._proxies.peer(connection, headers)
        if not route.without_store:
            return await self._known(peer, headers)
        try:
            async with timeout_after(self._clock, OPEN_PATIENCE):
                return await self._known(peer, headers)
        except (Unavailable, TimeoutError) as away:
            caller = self._remembered(peer, headers)
            if caller is None:
                raise Unavailable(
                    "the store does not answer, so the token cannot be checked"
                ) from away
            return caller

    async def _anybody(self, route: AnyRoute, connection: Connection, headers: Headers) -> Caller:
        """The caller of a route to which everybody has access."""
        try:
            return await self._looked_up(route, connection, headers)
        except (Problem, DrumbeatError):
            return ANYBODY

    def _believed(self, headers: Headers) -> Caller | None:
        """The caller by a recently validated token; None: authenticate in full."""
        authorization = headers.get(b"authorization")
        if authorization is None or self._insecure or self._proxies:
            return None
        admitted = self.tokens.recent(digest_of(_bearer(authorization)[:LONGEST_TOKEN]))
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
        if self._trusts_this_machine and not await self.tokens.any_known():
            return _on_this_machine(peer, headers)
        raise unauthorised(
            "send a token as `Authorization: Bearer ...`; `drumbeat token create` makes one"
        )

    def _remembered(self, peer: Peer, headers: Headers) -> Caller | None:
        """The caller by what was cached, while the store is away."""
        authorization, cookie = headers.get(b"authorization"), cookie_of(headers)
        if authorization is not None:
            admitted = self.tokens.remembered(digest_of(_bearer(authorization)))
            if admitted is None or is_session(admitted.token):
                return None
            return _named(Caller(admitted.token.name, admitted.scope), peer)
        if cookie is not None:
            known = self.sessions.remembered(cookie)
            return known and _named(Caller(known[0].token.name, known[0].scope, known[1]), peer)
        if self._trusts_this_machine and self.tokens.none_remembered:
            return _on_this_machine(peer, headers)
        return None

    async def _by_cookie(self, peer: Peer, cookie: str) -> Caller:
        verdict, session = await self.sessions.judge(cookie)
        if isinstance(verdict, Admitted) and session is not None:
            return _named(Caller(verdict.token.name, verdict.scope, session), peer)
        raise self._refusal(peer, "the session is over; log in again")

    def _refusal(self, peer: Peer, why: str) -> Problem:
        """The problem for an invalid credential; after too many from one address it is silent.

        Credentials are looked up first: the failures of others at the same address, for instance
        behind one proxy, must not keep those out who have a valid one.
        """
        self._throttle.check(peer.address)
        self._throttle.failed(peer.address)
        return unauthorised(why, "token-refused")


@lru_cache(maxsize=MOST)
def _caller(name: str, scope: Scope) -> Caller:
    return Caller(name, scope)


def _bearer(authorization: bytes) -> str:
    kind, _, token = authorization.decode("latin-1").strip().partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise unauthorised("the Authorization header has to be `Bearer` and a token")
    return token.strip()


def _named(caller: Caller, peer: Peer) -> Caller:
    """The caller, with the user's name if a trusted proxy gives it."""
    if peer.user is None:
        return caller
    return replace(caller, name=f"{peer.user} ({caller.name})")


def _on_this_machine(peer: Peer, headers: Headers) -> Caller:
    """A caller on this machine, unless the request comes from a proxy or a foreign page."""
    if came_through_a_proxy(headers):
        raise unauthorised(
            "this request came through a proxy, so its origin is unknown; make a token with "
            "`drumbeat token create`"
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
            return "the token is not known"
