"""Routes for logging in and out, for browsers. Programs send a token with each request."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.access.origins import check_origin
from drumbeat.api.access.sessions import cookie_of, set_cookie
from drumbeat.api.http.call import Call, Nothing
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import AnyRoute, Route, read_route
from drumbeat.model.fleet.token import Scope
from drumbeat.rules.tokens import Admitted


class LoginView(Struct, kw_only=True, forbid_unknown_fields=True):
    """A token that opens a session."""

    token: Annotated[str, Meta(min_length=1, max_length=500)]


class WhoView(Struct, frozen=True, kw_only=True):
    """Who one is, to the server."""

    name: str
    scope: Scope
    """What one may do: viewer, submitter, operator or admin."""
    read_only: bool
    """Whether the server changes nothing at all."""


async def log_in(call: Call[Nothing, LoginView]) -> Response:
    """Open a session, kept in a cookie that no script can read."""
    access, peer = call.access, call.access.peer(call.connection, call.headers)
    check_origin(peer, call.headers, needed=False)
    if call.fleet.services.config.read_only:  # a session is kept in the store
        raise Problem(
            403,
            "read-only",
            "this server changes nothing, and a session would be kept in its store; "
            "send the token as `Authorization: Bearer ...`",
        )
    admitted = await access.by_token(peer, call.body.token)
    value = await access.sessions.open(admitted.token)
    view = WhoView(
        name=admitted.token.name,
        scope=admitted.scope,
        read_only=call.fleet.services.config.read_only,
    )
    return json_response(view, 200, {"set-cookie": set_cookie(value, secure=peer.secure)})


async def log_out(call: Call[Nothing, Any]) -> Response:
    """End the session of this browser, on every node."""
    peer = call.access.peer(call.connection, call.headers)
    check_origin(peer, call.headers, needed=False)
    cookie = cookie_of(call.headers)
    if cookie is not None:
        verdict, session = await call.access.sessions.judge(cookie)
        if session is not None:
            name = verdict.token.name if isinstance(verdict, Admitted) else session.name
            await call.access.sessions.end(session, name)
    return Response(204, headers={"set-cookie": set_cookie("", secure=peer.secure)})


async def who(call: Call[Nothing, Any]) -> WhoView:
    """Who sends a request, and what they may do."""
    caller = call.caller
    if caller.scope is None:
        raise Problem(401, "token-missing", "you are not logged in; log in first")
    return WhoView(
        name=caller.name, scope=caller.scope, read_only=call.fleet.services.config.read_only
    )


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "POST",
        "/login",
        None,
        log_in,
        "Open a session for a browser",
        WhoView,
        body=LoginView,
        refuses=(401, 403, 429, 503),
        answers={"Set-Cookie": "The session, which no script can read."},
    ),
    Route(
        "POST",
        "/logout",
        None,
        log_out,
        "End the session of this browser",
        None,
        status=204,
        refuses=(403, 503),
        answers={"Set-Cookie": "Lets the browser forget the session."},
    ),
    read_route("/whoami", "Who is the caller, and what may they do?", WhoView, who),
)
