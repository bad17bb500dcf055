"""What all parts of the remote fleet share: requests and results by the endpoints of a protocol."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import to_builtins

from drumbeat.fleet.configuration import ABSENT
from drumbeat.fleet.endpoint import CREATED, GUARD, REASON, REVISION, Endpoint, endpoints_of
from drumbeat.fleet.remote.request import Query, Request, ServerResponse, body_of, path_of
from drumbeat.fleet.written import WriteResult
from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest
from drumbeat.model.time.instant import aware
from drumbeat.rules.schedules.version_guard import VersionGuard
from drumbeat.wire.parameters import Parameters

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

T = TypeVar("T")

REASON_HEADER = "x-drumbeat-reason"


class RemoteResource:
    """A part of the remote fleet. All parts share one transport.

    A subclass that inherits a protocol implements each of its endpoints by a request.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for protocol in cls.__mro__:
            for name, endpoint in endpoints_of(protocol):
                if getattr(cls, name) is endpoint.function:
                    setattr(cls, name, _requested(endpoint))

    async def _call(self, endpoint: Endpoint, given: Mapping[str, Any]) -> Any:
        """The result of an operation with these parameters."""
        response = await self._transport.send(request_of(endpoint, given))
        return _result(endpoint, response)


def part(kind: Callable[[Transport], T], transport: Transport) -> T:
    """A part of the remote fleet, whose class is abstract to a type checker."""
    return kind(transport)


def _requested(endpoint: Endpoint) -> Callable[..., Awaitable[Any]]:
    """The method that calls the endpoint."""

    @wraps(endpoint.function)
    async def call(self: RemoteResource, *args: Any, **kwargs: Any) -> Any:
        bound = endpoint.signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *given = bound.arguments.items()
        return await self._call(endpoint, dict(given))  # pyright: ignore[reportPrivateUsage] - `call` is a method of it

    return call


def request_of(endpoint: Endpoint, given: Mapping[str, Any], **fields: Any) -> Request:
    """The request that calls an operation with these parameters."""
    given = {name: _in_utc(name, value) for name, value in given.items()}
    subject = given.get(endpoint.path_parameter or "name", "")
    segments = endpoint.path.strip("/").split("/")
    query, body = endpoint.query_type, endpoint.body_type
    if endpoint.body_parameter is not None:
        fields["body"] = body_of(given[endpoint.body_parameter])
    elif body is not None and issubclass(body, Parameters):
        fields["body"] = body_of(body.of(given))
    return Request(
        endpoint.method,
        path_of(*(subject if segment.startswith("{") else segment for segment in segments)),
        query=() if query is None else _query(query.of(given)),
        headers=_headers(endpoint, given),
        extra_seconds=given.get("timeout") or 0.0,
        **{"subject": subject, **fields},
    )


def _result(endpoint: Endpoint, response: ServerResponse) -> Any:
    if endpoint.returns is None:
        return None
    found = response.read(endpoint.returns)
    if endpoint.returns_page:
        return Page(tuple(found), response.next)
    return WriteResult(found, response.status == CREATED) if endpoint.may_create else found


def _in_utc(name: str, value: Any) -> Any:
    return aware(name, value) if isinstance(value, datetime) else value


def _query(query: Parameters) -> Query:
    """The fields that are given, with a pair for each item of a list."""
    pairs: list[tuple[str, str]] = []
    fields: dict[str, list[str] | str | float | None] = to_builtins(query)
    for name, value in fields.items():
        for item in value if isinstance(value, list) else [value]:
            if item is True:
                pairs.append((name, "true"))
            elif item not in (None, False, ""):
                pairs.append((name, str(item)))
    return pairs


def _headers(endpoint: Endpoint, given: Mapping[str, Any]) -> Mapping[str, str]:
    headers = reason_header(given[REASON]) if endpoint.reason_in_header else {}
    if GUARD in given:
        headers |= _guard_header(given[GUARD])
    if given.get(REVISION) is not None:
        is_new = given[REVISION] == ABSENT
        headers |= {"if-none-match": "*"} if is_new else {"if-match": f'"{given[REVISION]}"'}
    return headers


def _guard_header(guard: VersionGuard) -> dict[str, str]:
    if guard.versions is not None:
        return {"if-match": ", ".join(f'"{version}"' for version in sorted(guard.versions))}
    if guard.must_be_absent:
        return {"if-none-match": "*"}
    return {"if-match": "*"} if guard.must_exist else {}


def reason_header(reason: str) -> dict[str, str]:
    """The header that carries a reason; none if there is no reason."""
    line = " ".join(reason.split())
    return {REASON_HEADER: line} if line else {}


async def every_page(ask: Callable[[PageRequest], Awaitable[Page[T]]]) -> AsyncGenerator[T]:
    """The items of all pages."""
    after: str | None = None
    while True:
        page = await ask(PageRequest(LARGEST_PAGE, after))
        for item in page.items:
            yield item
        after = page.next
        if after is None:
            return
