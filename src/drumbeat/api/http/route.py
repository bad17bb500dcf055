"""Routes: the rows of the API's table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec

from drumbeat.api.http.call import Body, Call, Nothing, Query
from drumbeat.api.http.problem import Problem
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.requests import invalid_request

MANY = (list, tuple, set, frozenset)
LARGEST_BODY = 512 * 1024
LOCATED = {"Location": "Where what was made is found."}
"""The header of a response that created something."""


@dataclass(frozen=True, slots=True)
class Route(Generic[Query, Body]):
    """A method and a path, who may use them, and what they do and return."""

    method: str
    path: str
    """Such as `/jobs/{id}`. A path parameter is one segment, and may contain any character."""
    scope: Scope | None
    """The lowest scope that has access; None: everybody has."""
    handle: Callable[[Call[Query, Body]], Awaitable[Any]]
    """Returns a view, a sequence of views, a `Page`, a `Response` or a `Stream`."""
    summary: str
    returns: Any
    """The type of the usual response; None: it has no body."""
    status: int = 200
    """The status of the usual response."""
    also: Mapping[int, Any] = field(default_factory=dict[int, Any])
    """Other responses that are not problems, by status."""
    refuses: Sequence[int] = ()
    """Statuses of its problems, in addition to those of every route."""
    query: type[Query] = Nothing  # type: ignore[assignment]
    body: type[Body] | None = None
    """None: it takes no body."""
    audited: bool = False
    """Whether it makes a change that is recorded, so that the request may give a reason."""
    reply: Callable[[Any], Any] | None = None
    """Makes the `Response` of the value that the handler returns; None: the value is encoded."""
    largest_body: int = LARGEST_BODY
    """In bytes."""
    media_type: str = "application/json"
    other_media_types: Sequence[str] = ()
    """Other media types of the usual response, chosen by the Accept header."""
    tells_more: bool = False
    """Everybody has access; viewers get more details."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Request headers that it uses, with their meaning, in addition to those of every route."""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of the usual response, with their meaning, in addition to those of every route."""
    without_store: bool = False
    """It works without the store: callers who had access before keep it while the store is away."""

    @property
    def changes(self) -> bool:
        """Whether it may change something, which needs more than the scope of a viewer."""
        return self.scope not in (None, Scope.VIEWER)

    @property
    def safe(self) -> bool:
        """Whether browsers send its method for any page without asking the server first."""
        return self.method in ("GET", "HEAD")

    def read_query(self, text: bytes) -> Query:
        """The decoded query; an error that names the field if it is invalid."""
        if not text and self.query is Nothing:
            return self.query()
        return _query(self.query, text)


AnyRoute: TypeAlias = Route[Any, Any]
Handler: TypeAlias = Callable[[Call[Any, Any]], Awaitable[Any]]


def read_route(path: str, summary: str, returns: Any, handle: Handler, **options: Any) -> AnyRoute:
    """A GET for viewers."""
    return Route("GET", path, Scope.VIEWER, handle, summary, returns, **options)


def _query(kind: type[Query], text: bytes) -> Query:
    many = _many(kind)
    values: dict[str, Any] = {}
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Problem(400, "unreadable-query", "the query is not percent-encoded UTF-8") from None
    for name, value in pairs:
        if name in many:
            values.setdefault(name, []).extend(value.split(","))
        elif name in values:
            raise Problem(422, "invalid-input", f"the query gives {name} twice", field=name)
        else:
            values[name] = value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise invalid_request(error, "query") from None


_MANY: dict[type, frozenset[str]] = {}


def _many(kind: type) -> frozenset[str]:
    found = _MANY.get(kind)
    if found is None:
        hints = get_type_hints(kind)
        found = frozenset(name for name, hint in hints.items() if get_origin(hint) in MANY)
        _MANY[kind] = found
    return found
