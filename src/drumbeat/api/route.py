"""Routes: one row of the table each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec

from drumbeat.api.call import Body, Call, Nothing, Query
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import unreadable
from drumbeat.model.token import Scope

MANY = (list, tuple, set, frozenset)
LARGEST_BODY = 512 * 1024
LOCATED = {"Location": "Where what was made is found."}
"""What an answer says that made something."""


@dataclass(frozen=True, slots=True)
class Route(Generic[Query, Body]):
    """What can be asked at one path with one method, by whom, and what comes back."""

    method: str
    path: str
    """Such as `/jobs/{id}`; each part in braces is one segment, which may hold any character."""
    scope: Scope | None
    """The least scope that may ask; None: anybody."""
    handle: Callable[[Call[Query, Body]], Awaitable[Any]]
    """Returns a value of the wire, a `Listed`, an `Answer` or a `Stream`."""
    summary: str
    returns: Any
    """The type of its usual answer; None: it has no body."""
    status: int = 200
    """The status of its usual answer."""
    also: Mapping[int, Any] = field(default_factory=dict[int, Any])
    """Other answers that are no problems, by status."""
    refuses: Sequence[int] = ()
    """Statuses of the problems that are its own, besides those that every route has."""
    query: type[Query] = Nothing  # type: ignore[assignment]
    body: type[Body] | None = None
    """None: it reads no body."""
    change: str | None = None
    """What the audit log calls it; None: it changes nothing that people answer for."""
    largest_body: int = LARGEST_BODY
    """In bytes."""
    media_type: str = "application/json"
    other_media_types: Sequence[str] = ()
    """What its usual answer may also be, as text, if the Accept header asks for it."""
    public: bool = True
    """Whether the OpenAPI document tells of it."""
    tells_more: bool = False
    """Open to anybody, and has details for those who may look."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of a request that it heeds, and what each does; besides those that all heed."""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of its usual answer, and what each says; besides those that all have."""
    without_store: bool = False
    """It has something to say while the store is away: whoever was let in before may then ask."""

    @property
    def changes(self) -> bool:
        """Whether it may change something: looking needs no more than the scope of a viewer."""
        return self.scope not in (None, Scope.VIEWER)

    @property
    def safe(self) -> bool:
        """Whether its method may be sent by any page: a browser asks nobody before a GET."""
        return self.method in ("GET", "HEAD")

    def read_query(self, text: bytes) -> Query:
        """The query of a request; a `Problem` that names the field if it is not what is taken."""
        if not text and self.query is Nothing:
            return self.query()
        return _query(self.query, text)

    @property
    def reads(self) -> bool:
        """Whether it reads a body."""
        return self.body is not None


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
        raise unreadable(error, "query") from None


_MANY: dict[type, frozenset[str]] = {}


def _many(kind: type) -> frozenset[str]:
    found = _MANY.get(kind)
    if found is None:
        hints = get_type_hints(kind)
        found = frozenset(name for name, hint in hints.items() if get_origin(hint) in MANY)
        _MANY[kind] = found
    return found
