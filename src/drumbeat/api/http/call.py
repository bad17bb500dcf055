"""A request to a route, decoded and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from drumbeat.api.http.asgi import Connection, Headers
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.fleet.token import Scope, TokenRecord

if TYPE_CHECKING:
    from drumbeat.api.access.access_control import AccessControl

Query = TypeVar("Query", bound=Struct)
Body = TypeVar("Body")


class Nothing(Struct, forbid_unknown_fields=True):
    """The query of a route that takes none."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, and what they may do."""

    name: str
    """The name in the audit log: of a token or a person, or how they have access."""
    scope: Scope | None
    """None: they are not authenticated."""
    session: TokenRecord | None = None
    """The browser session that authenticated them."""

    def may(self, scope: Scope) -> bool:
        """Whether they have at least that scope."""
        return self.scope is not None and self.scope.allows(scope)


ANYBODY = Caller("anybody", None)


@dataclass(slots=True)  # not frozen: each request makes one, and that would take five times as long
class Call(Generic[Query, Body]):
    """One request to one route."""

    fleet: LocalFleet
    """Acts for the caller if the route is audited."""
    caller: Caller
    path: Mapping[str, str]
    """The path parameters, unquoted."""
    query: Query
    body: Body
    headers: Headers
    connection: Connection
    access: AccessControl
