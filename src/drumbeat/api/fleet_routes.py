"""The routes of the fleet's operations, made of their endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

from drumbeat.api.http.call import Call, Nothing
from drumbeat.api.http.entity_tags import ETAGS, GUARDS, Guard, entity_tag
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import LARGEST_BODY, LOCATED, AnyRoute, Handler, Route
from drumbeat.api.http.router import quoted
from drumbeat.fleet.endpoint import CREATED, REASON, Endpoint, endpoints_of
from drumbeat.fleet.written import WriteResult
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.job import JobView
from drumbeat.wire.operation import OperationView
from drumbeat.wire.schedule import ScheduleView

AnyCall: TypeAlias = Call[Any, Any]
Reader: TypeAlias = Callable[[AnyCall], Mapping[str, Any]]
"""Reads some parameters of an operation from a request."""

ACCEPTED = 202
PLACES: Mapping[Any, Callable[[Any], str]] = {
    JobView: lambda view: f"/jobs/{view.id}",
    OperationView: lambda view: f"/operations/{view.id}",
    ScheduleView: lambda view: f"/schedules/{quoted(view.name)}",
}
"""The paths of what operations create."""
AFTER: Mapping[str, Callable[[AnyCall, Any], None]] = {
    "tokens.create": lambda call, _: call.access.tokens.made_one(),
    "tokens.revoke": lambda call, revoked: call.access.tokens.forget_token(revoked.id),
}
"""What a change means for the access control of this server."""


def routes_of(protocol: type, noun: str = "") -> Iterator[AnyRoute]:
    """The routes of all operations of a protocol, which a fleet has under that noun."""
    for verb, endpoint in endpoints_of(protocol):
        yield _route(endpoint, f"{noun}.{verb}" if noun else verb)


def _route(endpoint: Endpoint, operation: str) -> AnyRoute:
    usual_scope = Scope.VIEWER if endpoint.method == "GET" else Scope.OPERATOR
    guard, tag = _guard(endpoint), ETAGS.get(endpoint.returns)
    other_status = 200 if endpoint.status == CREATED else CREATED
    return Route(
        endpoint.method,
        endpoint.path,
        endpoint.scope or usual_scope,
        _handler(endpoint, operation),
        endpoint.summary,
        endpoint.returns,
        status=204 if endpoint.returns is None else endpoint.status,
        also={other_status: endpoint.returns} if endpoint.may_create else {},
        refuses=endpoint.own_problems,
        query=endpoint.query_type or Nothing,
        body=endpoint.body_type,
        audited=REASON in endpoint.hints,
        reply=_reply(endpoint),
        largest_body=endpoint.largest_body or LARGEST_BODY,
        headers={} if guard is None else guard.headers(endpoint.method),
        answers={**(LOCATED if _place(endpoint) else {}), **(tag.header if tag else {})},
    )


def _reply(endpoint: Endpoint) -> Callable[[Any], Response] | None:
    """Makes the response of a result that has an entity tag or a place; None: it has neither."""
    tag, place = ETAGS.get(endpoint.returns), _place(endpoint)
    if tag is None and place is None:
        return None

    def reply(view: Any) -> Response:
        return respond(endpoint.status, view)

    def reply_to_write(result: WriteResult[Any]) -> Response:
        return respond(CREATED if result.is_new else 200, result.view)

    def respond(status: int, view: Any) -> Response:
        headers: dict[str, str] = {}
        if tag is not None:
            headers["etag"] = entity_tag(tag.number(view))
        if place is not None:
            headers["location"] = place(view)
        return json_response(view, status, headers)

    return reply_to_write if endpoint.may_create else reply


def _handler(endpoint: Endpoint, operation: str) -> Handler:
    """Calls the operation with the parameters that the request gives."""
    method_of = attrgetter(operation)
    readers = tuple(_readers(endpoint))
    after = AFTER.get(operation)

    def handle(call: AnyCall) -> Awaitable[Any]:
        given: dict[str, Any] = {}
        for read in readers:
            given.update(read(call))
        result: Awaitable[Any] = method_of(call.fleet)(**given)
        return result if after is None else noted(call, result, after)

    return handle


async def noted(call: AnyCall, made: Awaitable[Any], note: Callable[[AnyCall, Any], None]) -> Any:
    """The result, once access control knows of it."""
    result = await made
    note(call, result)
    return result


def _readers(endpoint: Endpoint) -> Iterator[Reader]:
    if endpoint.path_parameter is not None:
        yield _from_path(endpoint, endpoint.path_parameter)
    if endpoint.query_type is not None:
        yield lambda call: call.query.parameters()
    if endpoint.body_parameter is not None:
        whole = endpoint.body_parameter
        yield lambda call: {whole: call.body}
    elif endpoint.body_type is not None:
        yield lambda call: call.body.parameters()
    guard = _guard(endpoint)
    if guard is not None:
        yield lambda call: {guard.parameter: guard.read(call.headers)}


def _from_path(endpoint: Endpoint, parameter: str) -> Reader:
    noun, segment = endpoint.path.split("/")[1:3]
    name = segment.strip("{}")
    if endpoint.hints[parameter] is not int:
        return lambda call: {parameter: call.path[name]}
    return lambda call: {parameter: _number(call.path[name], noun.removesuffix("s"))}


def _number(text: str, noun: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Problem(404, f"unknown-{noun}", f"no {noun} has the id {text!r}: an id is a number")
    return int(text)


def _guard(endpoint: Endpoint) -> Guard | None:
    return next((each for each in GUARDS if each.parameter in endpoint.hints), None)


def _place(endpoint: Endpoint) -> Callable[[Any], str] | None:
    creates = endpoint.may_create or endpoint.status in (CREATED, ACCEPTED)
    return PLACES.get(endpoint.returns) if creates else None
