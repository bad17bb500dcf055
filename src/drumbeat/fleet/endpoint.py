"""Endpoints: how the operations of the protocols are called over HTTP.

`@endpoint("POST /queues/{name}/pause", "Pause a queue")` on a method of a protocol is the only
description of that call. The API makes its route of it, and the remote fleet its request:

- The segment in braces is the first parameter.
- A parameter that is a struct is the whole body. Otherwise `query` and `body` are `Parameters`,
  whose fields are the other parameters; by default `PageQuery` for a `page`, and `ReasonView` for
  the reason of a POST.
- `guard`, `revision` and a `reason` that has no other place are headers.
- The result follows from the annotation of the method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from drumbeat.fleet.written import WriteResult
from drumbeat.model.fleet.token import Scope
from drumbeat.model.page import Page
from drumbeat.wire.changes import ReasonView
from drumbeat.wire.parameters import Parameters
from drumbeat.wire.queries import PageQuery

F = TypeVar("F", bound=Callable[..., Any])

CREATED = 201
GUARD, REVISION, REASON, PAGE = "guard", "revision", "reason", "page"
CLASHES: Mapping[str, Sequence[int]] = {GUARD: (409, 412), REVISION: (412,)}
"""Statuses of the problems of a change with a guard or a revision."""
ATTRIBUTE = "drumbeat_endpoint"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """How an operation is called over HTTP."""

    function: Callable[..., Any]
    """The method of the protocol."""
    method: str
    path: str
    """Such as `/jobs/{id}`."""
    summary: str
    scope: Scope | None = None
    """The lowest scope that has access; None: viewer for a GET, otherwise operator."""
    status: int = 200
    """The status of the usual response."""
    refuses: Sequence[int] | None = None
    """Statuses of its own problems; None: those of its guard."""
    query: type[Parameters] | None = None
    body: type[Parameters] | None = None
    largest_body: int | None = None

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of the parameters, in order, and of `return`."""
        return get_type_hints(self.function)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters, `self` included."""
        return inspect.signature(self.function)

    @cached_property
    def path_parameter(self) -> str | None:
        """The parameter that is a segment of the path."""
        return next(iter(self.hints)) if "{" in self.path else None

    @cached_property
    def body_parameter(self) -> str | None:
        """The parameter that is the whole body."""
        for name, hint in self.hints.items():
            if name != "return" and isinstance(hint, type) and issubclass(hint, Struct):
                return name
        return None

    @cached_property
    def query_type(self) -> type[Parameters] | None:
        return PageQuery if self.query is None and PAGE in self.hints else self.query

    @cached_property
    def body_type(self) -> type[Struct] | None:
        if self.body_parameter is not None:
            return self.hints[self.body_parameter]  # type: ignore[no-any-return]  # it is a struct
        asks_for_reason = self.method == "POST" and REASON in self.hints
        return ReasonView if self.body is None and asks_for_reason else self.body

    @cached_property
    def reason_in_header(self) -> bool:
        """Whether only a header has a place for the reason."""
        fields = () if self.body_type is None else self.body_type.__struct_fields__
        return REASON in self.hints and REASON not in fields

    @cached_property
    def returns(self) -> Any:
        """The type of the body of the response; None: it has none."""
        result = self.hints["return"]
        kind, args = get_origin(result), get_args(result)
        if kind is WriteResult:
            return args[0]
        if kind is Mapping:
            return dict[args[0], args[1]]  # type: ignore[valid-type]
        if kind in (Sequence, Page):
            return list[args[0]]  # type: ignore[valid-type]
        return None if result is NoneType else result

    @property
    def returns_page(self) -> bool:
        return get_origin(self.hints["return"]) is Page

    @property
    def may_create(self) -> bool:
        """Whether it either creates something or finds it there."""
        return get_origin(self.hints["return"]) is WriteResult

    @property
    def own_problems(self) -> Sequence[int]:
        """The statuses of the problems that only this endpoint has."""
        if self.refuses is not None:
            return self.refuses
        return next((CLASHES[name] for name in CLASHES if name in self.hints), ())


def endpoint(call: str, summary: str, **options: Any) -> Callable[[F], F]:
    """Describe a method of a protocol; `call` is its HTTP method and its path."""
    method, path = call.split()

    def describe(function: F) -> F:
        described = Endpoint(
            function=function, method=method, path=path, summary=summary, **options
        )
        setattr(function, ATTRIBUTE, described)
        return function

    return describe


def endpoint_of(function: Callable[..., Any]) -> Endpoint:
    """The endpoint of a method of a protocol."""
    found: Endpoint = getattr(function, ATTRIBUTE)
    return found


def endpoints_of(protocol: type) -> Iterator[tuple[str, Endpoint]]:
    """The endpoints of a protocol, by the names of their operations."""
    for name, member in vars(protocol).items():
        if hasattr(member, ATTRIBUTE):
            yield name, endpoint_of(member)
